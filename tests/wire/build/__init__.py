"""Captures built byte by byte: conversations of clients with brokers, each with its repaired twin."""
