"""The formats of a report of check-listeners, a module each."""
