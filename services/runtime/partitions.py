"""Which partition a key lies in: murmur2 as in Kafka's own default partitioner, so that every client agrees.

https://github.com/apache/kafka/blob/trunk/clients/src/main/java/org/apache/kafka/common/utils/Utils.java
"""

from functools import lru_cache

from aiokafka.partitioner import murmur2  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]


@lru_cache(maxsize=65_536)
def partition_of(key: bytes, partitions: int) -> int:
    """The partition of `key` among `partitions`, from 0."""
    return (int(murmur2(key)) & 0x7FFFFFFF) % partitions
