"""Rules about the compose files themselves: what compose refuses, warns about or silently takes otherwise."""
