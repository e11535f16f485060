"""What captured packets say about Kafka."""
