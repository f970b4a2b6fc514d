"""A key lies where every Kafka client puts it."""

import pytest
from aiokafka.partitioner import murmur2

from services.runtime.partitions import partition_of

# From Kafka's own tests of its partitioner's hash.
VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize(("key", "expected"), VECTORS.items())
def test_the_hash_is_kafkas_murmur2(key: bytes, expected: int) -> None:
    assert (murmur2(key) & 0xFFFFFFFF) == (expected & 0xFFFFFFFF)
    for partitions in (1, 16, 64, 7):
        assert partition_of(key, partitions) == (expected & 0x7FFFFFFF) % partitions
