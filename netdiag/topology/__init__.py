"""How everything hangs together: what the kernel has, joined with what the engine and Kafka say of it."""
