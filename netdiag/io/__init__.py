"""The world: whatever opens, dials, sniffs, inspects or spawns."""
