"""Projects that nobody would write, checked, repaired and printed in every format; `python -m tests.fuzz` goes on."""
