"""Apache Kafka as values: listeners, broker configuration, images, the protocol and what a client says in it."""
