"""The Docker Engine: which one is meant, asking it, and what runs on it."""
