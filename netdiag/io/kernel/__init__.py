"""The doors to the kernel: netlink, /proc and the namespaces, read and never changed."""
