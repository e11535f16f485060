"""Real clients against real brokers in the lab, while tcpdump writes what passes."""
