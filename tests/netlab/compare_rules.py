"""Packet filter rules as we read them, held against what iptables-save and nft print of the same namespace.

Texts must be equal but for blanks. nft prints without state (`-s`), so a counter is a counter; rules of native tables
are found by their handle. nft 1.0.6 of Debian 12 dies on some rulesets of later versions: that is told, not overlooked.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from netdiag.linux.ruleset import Origin, Ruleset
from tests.debian import find
from tests.lab.processes import run

_SAVERS = (
    (Origin.IPTABLES_NFT, "ip", "iptables-nft-save"),
    (Origin.IPTABLES_NFT, "ip6", "ip6tables-nft-save"),
    (Origin.IPTABLES_LEGACY, "ip", "iptables-legacy-save"),
    (Origin.IPTABLES_LEGACY, "ip6", "ip6tables-legacy-save"),
)
_HANDLE = re.compile(r"^(.*) # handle (\d+)$")
_TABLE = re.compile(r"^table (\S+) (\S+) \{(?: # handle \d+)?$")
_CHAIN = re.compile(r"^\tchain (\S+) \{(?: # handle \d+)?$")

Key = tuple[str, ...]


@dataclass(slots=True)
class RuleComparison:
    """How many rules were compared, and those that are not as the others say. `broken` are oracles that failed."""

    compared: int = 0
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    differing: list[tuple[str, str]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether everything was found, and nothing else."""
        return not (self.missing or self.extra or self.differing)


def compare_rules(ruleset: Ruleset, namespace: str) -> RuleComparison:
    """Compare with what the tools say in the namespace of this name (of `ip netns`), or of this path."""
    found = RuleComparison()
    for origin, family, saver in _SAVERS:
        _saved(found, ruleset, origin, family, _said(found, namespace, saver))
    texts = _said(found, namespace, "nft", "-s", "-a", "list", "ruleset")
    if texts is not None:
        _listed(found, ruleset, texts)
    document = _said(found, namespace, "nft", "-j", "list", "ruleset")
    if document is not None:
        _handles(found, ruleset, document)
    return found


def _said(found: RuleComparison, namespace: str, *words: str) -> str | None:
    command = find(words[0])
    if command is None:
        found.broken.append(f"no {words[0]}")
        return None
    path = namespace if namespace.startswith("/") else f"/run/netns/{namespace}"
    done = run(["nsenter", f"--net={path}", command, *words[1:]], check=False)
    if done.returncode != 0:
        found.broken.append(f"{' '.join(words)}: exit {done.returncode}")
        return None
    return done.stdout


def _saved(found: RuleComparison, ruleset: Ruleset, origin: Origin, family: str, text: str | None) -> None:
    """Rules by table and chain, in their order."""
    if text is None:
        return
    theirs: dict[tuple[str, str, str], list[str]] = {}
    table = ""
    for line in text.splitlines():
        if line.startswith("*"):
            table = line[1:]
        elif line.startswith("-A "):
            theirs.setdefault((family, table, line.split()[1]), []).append(_bare(line))
    ours = {
        (family, one.name, chain.name): [_bare(rule.text) for rule in chain.rules]
        for one in ruleset.tables
        if one.origin is origin and one.family == family
        for chain in one.chains
        if chain.rules
    }
    for key in sorted({*theirs, *ours}):
        _lists(found, " ".join((origin.value, *key)), ours.get(key, []), theirs.get(key, []))


def _lists(found: RuleComparison, where: str, ours: list[str], theirs: list[str]) -> None:
    found.compared += len(theirs)
    if len(ours) == len(theirs):
        pairs = zip(ours, theirs, strict=True)
        found.differing += [(f"{where}: {one}", f"{where}: {other}") for one, other in pairs if one != other]
        return
    mine, others = Counter(ours), Counter(theirs)
    found.missing += [f"{where}: {text}" for text in (others - mine).elements()]
    found.extra += [f"{where}: {text}" for text in (mine - others).elements()]


def _listed(found: RuleComparison, ruleset: Ruleset, text: str) -> None:
    theirs = dict(_native(text))
    ours = {
        (table.family, table.name, chain.name, str(rule.handle)): _bare(rule.text)
        for table in ruleset.tables
        if table.origin is Origin.NFTABLES
        for chain in table.chains
        for rule in chain.rules
    }
    of_iptables = {(table.family, table.name) for table in ruleset.tables if table.origin is Origin.IPTABLES_NFT}
    for key in sorted({*theirs, *ours}):
        if key[:2] in of_iptables:
            continue
        found.compared += key in theirs
        if key not in ours:
            found.missing.append(f"{' '.join(key)}: {theirs[key]}")
        elif key not in theirs:
            found.extra.append(f"{' '.join(key)}: {ours[key]}")
        elif ours[key] != theirs[key]:
            found.differing.append((f"{' '.join(key)}: {ours[key]}", f"{' '.join(key)}: {theirs[key]}"))


def _native(text: str) -> Iterator[tuple[Key, str]]:
    table, chain = ("", ""), ""
    for line in text.splitlines():
        if opened := _TABLE.match(line):
            table, chain = (opened[1], opened[2]), ""
        elif opened := _CHAIN.match(line):
            chain = opened[1]
        elif line.startswith("\t}"):
            chain = ""
        elif chain and (rule := _HANDLE.match(line)):
            yield (*table, chain, rule[2]), _bare(rule[1])


def _handles(found: RuleComparison, ruleset: Ruleset, document: str) -> None:
    """Every rule of nf_tables, of iptables too, is there by its handle."""
    rules = [one["rule"] for one in json.loads(document)["nftables"] if "rule" in one]
    theirs = {(one["family"], one["table"], one["chain"], str(one["handle"])) for one in rules}
    ours = {
        (table.family, table.name, chain.name, str(rule.handle))
        for table in ruleset.tables
        if table.origin is not Origin.IPTABLES_LEGACY
        for chain in table.chains
        for rule in chain.rules
    }
    found.missing += [f"nft -j: {' '.join(key)}" for key in sorted(theirs - ours)]
    found.extra += [f"nft -j: {' '.join(key)}" for key in sorted(ours - theirs)]


def _bare(text: str) -> str:
    return " ".join(text.split())
