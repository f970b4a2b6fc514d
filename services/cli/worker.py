"""`odradek worker`: one worker in this process, until a signal ends it."""

from typing import Annotated, Literal

import typer

from services.cli.options import Kafka, Prefix

WorkerName = Literal["gateway", "context", "provider", "normalizer", "orchestrator", "delivery"]


def run(
    name: Annotated[WorkerName, typer.Argument(help="Which worker.")],
    kafka: Kafka = None,
    prefix: Prefix = None,
    instance: Annotated[
        str | None, typer.Option("--instance", help="The slot that this process holds, instead of ODRADEK_INSTANCE.")
    ] = None,
    http_port: Annotated[
        int | None, typer.Option("--http-port", help="Port of /livez, /readyz and /metrics; 0 picks one.")
    ] = None,
) -> None:
    """Run one worker until SIGTERM or Ctrl-C.

    Every setting is an environment variable; `odradek settings` lists them.

    Examples:

      odradek worker provider --kafka broker-1:9092

      ODRADEK_INSTANCE=delivery-0 ODRADEK_HTTP_PORT=9100 odradek worker delivery
    """
    import importlib

    import uvloop

    from services.cli.environment import load_settings
    from services.runtime.assembly import WorkerSpec
    from services.runtime.logs import configure_logs
    from services.runtime.process import name_instance, run_worker
    from services.runtime.slots import lock_folder

    settings = load_settings(kafka=kafka, prefix=prefix, instance=instance, http_port=http_port)
    configure_logs(settings, service=name, instance=name_instance(settings, name))
    spec: WorkerSpec = importlib.import_module(f"services.{name}.worker").SPEC
    uvloop.run(run_worker(spec, settings, run_dir=lock_folder()))
