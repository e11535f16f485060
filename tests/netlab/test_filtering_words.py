"""Every word that we know of nft and iptables, loaded into the kernel and read back: texts as the tools print them.

What this kernel or these tools refuse is left out; that there is enough left is asked, too.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.linux.ruleset import Origin
from tests.figures import Report
from tests.lab.errors import LabError
from tests.netlab.compare_rules import compare_rules
from tests.netlab.filtering import inside, made_namespace, ruleset_of

DATA = Path(__file__).parent / "data"
# Extensions whose options are not decoded: their rules are told with their bytes.
UNTOLD = (
    "-A FORWARD -p ah -m ah --ahspi 5 -j ACCEPT",
    "-A FORWARD -p tcp -m ecn --ecn-tcp-cwr -j ACCEPT",
    "-A FORWARD -m realm --realm 5 -j ACCEPT",
    "-A FORWARD -m policy --dir in --pol ipsec --reqid 5 -j ACCEPT",
)


def test_words_of_nft(figure: Report) -> None:
    with made_namespace() as name:
        inside(name, "nft", "-f", str(DATA / "words.nft"))
        found = compare_rules(ruleset_of(name), name)
    figure("rules of nftables", found.compared)
    assert found.equal, found
    assert found.broken == []
    assert found.compared > 350


@pytest.mark.parametrize("version", ["iptables", "ip6tables"])
@pytest.mark.parametrize("kind", ["nft", "legacy"])
def test_words_of_iptables(version: str, kind: str, figure: Report) -> None:
    with made_namespace() as name:
        text = (DATA / f"words.{version}").read_text(encoding="utf-8")
        loaded = sum(_loaded(name, f"{version}-{kind}-restore", part) for part in _tables(text))
        found = compare_rules(ruleset_of(name), name)
    figure(f"rules of {version}-{kind}", found.compared)
    assert found.equal, found
    assert found.compared == loaded
    assert loaded > 150


def test_what_is_not_known_keeps_its_place_and_its_bytes() -> None:
    with made_namespace() as name:
        _loaded(name, "iptables-legacy-restore", "\n".join(["*filter", *UNTOLD, "COMMIT", ""]))
        ruleset = ruleset_of(name)
        found = compare_rules(ruleset, name)
    (table,) = ruleset.tables
    assert table.origin is Origin.IPTABLES_LEGACY
    rules = [rule for chain in table.chains for rule in chain.rules]
    assert rules
    assert len(found.differing) == len(rules)
    assert all("[revision " in ours for ours, _ in found.differing)
    assert all(any(not one.understood for one in rule.expressions) for rule in rules)


def _tables(text: str) -> Iterator[str]:
    yield from re.findall(r"^\*.*?^COMMIT\n", text, re.MULTILINE | re.DOTALL)


def _loaded(name: str, command: str, text: str) -> int:
    """Load a table at once, or, where one of its rules is refused, one by one; how many rules are there."""
    lines = text.splitlines()
    rules = [line for line in lines if line.startswith("-A")]
    try:
        inside(name, command, "--noflush", stdin=text)
    except LabError:
        inside(name, command, "--noflush", stdin="\n".join([*(x for x in lines if x not in rules), ""]))
        return sum(_accepted(name, command, lines[0], rule) for rule in rules)
    return len(rules)


def _accepted(name: str, command: str, table: str, rule: str) -> bool:
    try:
        inside(name, command, "--noflush", stdin=f"{table}\n{rule}\nCOMMIT\n")
    except LabError:
        return False
    return True
