"""The words of Linux networking: name resolution files, listening sockets, addresses as values."""
