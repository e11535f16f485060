"""The commands, as a shell sees them."""
