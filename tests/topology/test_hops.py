"""The words of ways, which scripts rely on."""

from netdiag.topology.hops import End, HopKind
from tests.house.tree import ROOT


def test_every_end_is_described() -> None:
    page = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    assert [end.value for end in End if f"`{end.value}`" not in page] == []


def test_every_kind_of_hop_is_described() -> None:
    page = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    assert [kind.value for kind in HopKind if f"`{kind.value}`" not in page] == []
