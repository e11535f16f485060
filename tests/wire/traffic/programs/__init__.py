"""Programs that run inside the lab, on their own: they know nothing of the tests."""
