"""`--via container`: a helper container carries out a command; the client outside, the server in it."""
