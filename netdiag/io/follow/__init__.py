"""Captures that come file by file: what was read is kept, and reading goes on where it stopped."""
