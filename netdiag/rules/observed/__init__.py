"""Rules about what probes observed."""
