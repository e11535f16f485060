"""What a real connection proves."""
