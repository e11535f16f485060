"""The configuration file, `netdiag.toml` or a table of `pyproject.toml`: its keys, and nothing of what they do."""
