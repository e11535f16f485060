"""Names of namespaces."""

import pytest

from netdiag.linux.netns import NamedNamespace


@pytest.mark.parametrize(
    ("name", "valid"),
    [("lan", True), ("a.b-c_1", True), ("...", True), ("", False), (".", False), ("..", False), ("a/b", False)],
)
def test_a_name_is_a_file_name(name: str, valid: bool) -> None:
    assert NamedNamespace(name=name).valid is valid
