"""What reports look like."""
