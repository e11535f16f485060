"""netdiag's tests: they mirror the package; tests/house holds what the tree itself must keep."""
