"""Questions to nf_tables as bytes, and its answers as values; nothing here opens a socket."""
