"""Names, connections, TLS and Kafka from inside a network namespace: what a client there gets."""
