"""A second broker of a local Kafka: it joins the first one's cluster and follows or leads half of the partitions.

Its data folder is the formatted one of the first with a number and an id of its own, which is all that Kafka's format tool
would write for a broker that is no controller.
"""

import base64
import shutil
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from services.sandbox.brokers.jvm import JvmKafka
from services.sandbox.brokers.ports import free_port

BOTH_MUST_HAVE_IT = {
    "min.insync.replicas": "2",
    "default.replication.factor": "2",
    "offsets.topic.replication.factor": "2",
}
"""Settings of both brokers with which no write counts that not both have."""

_META = "meta.properties"


async def start_follower(first: JvmKafka, directory: Path, *, properties: Mapping[str, str]) -> JvmKafka:
    """Start the second broker in a folder of its own. Raises what `JvmKafka.start` raises."""
    installed = await JvmKafka.prepare()
    data = directory / "data"
    shutil.copytree(installed.formatted, data)
    own = {"node.id": "2", "directory.id": base64.urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")}
    meta = data / _META
    lines = (line.split("=", 1) for line in meta.read_text().splitlines() if "=" in line)
    meta.write_text("".join(f"{name}={own.get(name, value)}\n" for name, value in lines))
    port = free_port()
    joins = {
        "process.roles": "broker",
        "node.id": own["node.id"],
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.quorum.voters": f"1@127.0.0.1:{first.controller_port}",
    }
    return await JvmKafka.start(directory, port=port, properties={**joins, **properties})
