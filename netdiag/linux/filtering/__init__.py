"""What the packet filter of a network namespace does with one packet, in three values: yes, no, and not known."""
