"""Requests to nf_tables as bytes, and its answers as values and as the text of nft; no socket here."""
