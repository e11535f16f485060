"""Matches and targets of iptables: blobs to values, values to the words of iptables-save."""
