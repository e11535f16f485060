"""`make bars`: measurements that take long, one target each, resumable; they write docs/bars.md."""
