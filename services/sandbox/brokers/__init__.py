"""Local brokers for one machine: each starts a Kafka-protocol broker on 127.0.0.1 and takes it away again.

In: the embedded broker (Tansu, memory only), Apache Kafka on the local Java, Apache Kafka in a container, and the
choice between them for test runs. Not in: topics and clients, which are the runtime's.
"""
