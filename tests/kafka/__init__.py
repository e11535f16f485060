"""Tests of the Kafka vocabulary."""
