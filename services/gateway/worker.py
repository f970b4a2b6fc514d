"""The gateway worker: one shard's websocket bound to the log. It reads no topic."""

from schemas.inbox import FoldSettings
from services.gateway.client import GatewayClient
from services.gateway.connection import Connection
from services.gateway.intake import Intake
from services.gateway.recent import read_recent
from services.gateway.stops import Stops
from services.gateway.watermarks import Watermarks
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.discord import token
from services.runtime.logs import get_logger

logger = get_logger("gateway")


async def build(context: Context) -> None:
    """Everything runs in the background; raises ConfigurationError for a missing token."""
    token(context.settings)
    shard_id, shard_count = context.settings.shard
    watermarks = Watermarks()
    intake = Intake(
        context.sender.send,
        watermarks,
        rules_version=context.settings.rules_version,
        settings=FoldSettings(locale=context.settings.locale),
    )
    stops = Stops(context.sender.send)

    def new_client() -> GatewayClient:
        return GatewayClient(intake, stops, shard_id=shard_id, shard_count=shard_count)

    connection = Connection(context.settings, new_client)

    async def run() -> None:
        try:
            await read_recent(
                context.log,
                watermarks,
                now_ms=context.clock.now_ms(),
                shard_id=shard_id,
                shard_count=shard_count,
            )
        except TimeoutError:
            # Better to answer from now on than not at all.
            logger.warning("the inbox could not be read in time, so messages of the last minutes may be missed")
        await connection.run()

    context.add_background(run)
    context.add_ready_check("discord gateway", connection.missing)
    context.on_stop(intake.close)


SPEC = WorkerSpec(name="gateway", reads=None, build=build)
