"""What a user does with netdiag, one module each: an options value in, a report value out; no terminal, no exit."""
