"""Rules about how namespaces, devices, ports and rules hang together; a module each."""
