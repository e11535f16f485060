"""Engine documents as values."""
