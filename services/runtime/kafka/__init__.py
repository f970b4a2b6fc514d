"""The log port on a Kafka cluster, through aiokafka: connection, producer, group members, tails, topic administration.

Nothing outside this package imports aiokafka (but for its murmur2). aiokafka carries no type hints that a strict checker
could use, so each module here switches those complaints off for itself and returns typed values.
"""
