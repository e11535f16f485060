"""A machine that netdiag runs on: what is there, and what that lets netdiag do."""
