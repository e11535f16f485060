"""The world: real sockets, namespaces, files and fake engines."""
