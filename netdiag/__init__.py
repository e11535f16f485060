"""netdiag: find out why Kafka in Docker connects but does not work."""

__version__ = "0.1.0"
