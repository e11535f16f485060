"""Live checks of real brokers in the lab."""
