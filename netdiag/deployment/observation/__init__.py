"""What was seen of a running deployment: by a live check, by a probe, and in a recording of either."""
