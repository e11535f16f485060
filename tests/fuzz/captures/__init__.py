"""Small captures of the lab (real brokers and clients, by tcpdump), damaged in every way that a seed thinks of."""
