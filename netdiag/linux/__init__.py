"""Linux networking as values: links, addresses, routes, sockets, packet filters and resolver files, and how the kernel
encodes them."""
