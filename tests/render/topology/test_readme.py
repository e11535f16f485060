"""The tree that README.md shows is the one that is drawn."""

import re

from netdiag.render.screen import Screen
from netdiag.render.topology.tree import tree_text
from netdiag.topology.path.reach import with_reach
from tests.house.readme import differs
from tests.house.tree import ROOT
from tests.topology.five_brokers import five_brokers


def test_the_shown_tree() -> None:
    (shown,) = re.findall(
        r"^```text\n(Who reaches .*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    drawn = tree_text(with_reach(five_brokers()), Screen(width=120))
    assert not differs(shown.splitlines(), drawn), drawn
