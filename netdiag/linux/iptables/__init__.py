"""Legacy iptables: what getsockopt gives, as the same values as nf_tables; nothing here opens a socket."""
