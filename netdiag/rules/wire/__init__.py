"""Rules about what a packet capture shows."""
