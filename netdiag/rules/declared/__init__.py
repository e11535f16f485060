"""Rules about what files and containers declare."""
