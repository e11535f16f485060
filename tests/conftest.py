"""What every test run has: the skip policy, figures, and the mark on tests that need the lab."""

import pytest

pytest_plugins = ["pytester", "tests.skips", "tests.figures", "tests.lab.fixtures"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses a fixture of tests/lab, so that `-m lab` needs no care; those run last."""
    for item in items:
        if _uses_lab(item):
            item.add_marker("lab")
    items.sort(key=lambda item: item.get_closest_marker("lab") is not None)


def _uses_lab(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    definitions = item._fixtureinfo.name2fixturedefs.values()
    return any(used.func.__module__.startswith("tests.lab") for chain in definitions for used in chain)
