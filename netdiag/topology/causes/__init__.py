"""Why a connection fails: from what was seen at its hops to causes, with evidence and repairs."""
