"""What several files of tests/io stand on."""

from collections.abc import Iterator

import pytest

from tests.io.namespaces import Pair, joined_namespaces


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two network namespaces joined by a veth pair, one pair for each file."""
    with joined_namespaces() as made:
        yield made
