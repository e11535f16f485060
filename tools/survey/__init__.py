"""A survey of public Compose and CI files with Kafka: what netdiag says of them, and how often it is right."""
