"""What one rule of a packet filter does with one packet, in three values: yes, no, and not known."""
