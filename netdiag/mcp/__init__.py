"""The server for agents: what `netdiag.app` finds, as tools of the Model Context Protocol."""
