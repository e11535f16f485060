"""The words of Apache Kafka: listeners, broker configuration, images, protocol."""
