"""What nf_tables answered, put together: tables with chains, rules and sets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from netdiag.linux.nftables.compat import compat_text
from netdiag.linux.nftables.datatypes import Name
from netdiag.linux.nftables.elements import assemble_set
from netdiag.linux.nftables.messages import ElementMessage, Place, RuleMessage, SetMessage
from netdiag.linux.nftables.origin import made_by_iptables
from netdiag.linux.nftables.rule_text import native_text
from netdiag.linux.ruleset import Chain, FilterRule, Origin, Table
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """All messages of one reading; elements by place and name of their set."""

    tables: Sequence[Place] = ()
    chains: Sequence[tuple[Place, Chain]] = ()
    rules: Sequence[RuleMessage] = ()
    sets: Sequence[SetMessage] = ()
    elements: Mapping[tuple[Place, str], Sequence[ElementMessage]] = field(default_factory=dict)
    partly: frozenset[tuple[Place, str]] = frozenset()


def assemble(answers: Answers, *, names: Name = str) -> tuple[Table, ...]:
    """The tables, in the kernel's order. `names` gives the device of an ifindex."""
    return tuple(_table(place, answers, names) for place in answers.tables)


def _table(place: Place, answers: Answers, names: Name) -> Table:
    sets = tuple(
        assemble_set(
            one,
            answers.elements.get((place, one.name), ()),
            names=names,
            partly=(place, one.name) in answers.partly,
        )
        for one in answers.sets
        if one.place == place
    )
    chains = [chain for where, chain in answers.chains if where == place]
    rules: dict[str, list[RuleMessage]] = {chain.name: [] for chain in chains}
    for rule in answers.rules:
        if rule.place == place and rule.chain in rules:
            rules[rule.chain].append(rule)
    of_iptables = made_by_iptables(place, chains, (rule for several in rules.values() for rule in several), sets)
    origin = Origin.IPTABLES_NFT if of_iptables else Origin.NFTABLES

    def text(rule: RuleMessage) -> str:
        if of_iptables:
            return compat_text(rule.chain, rule.expressions, family=place.family, comment=rule.comment)
        return native_text(rule.expressions, family=place.family, sets=sets, comment=rule.comment, names=names)

    filled = [replace(chain, rules=tuple(_numbered(rules[chain.name], text))) for chain in chains]
    return Table(family=place.family, name=place.table, origin=origin, chains=tuple(filled), sets=sets)


def _numbered(rules: Iterable[RuleMessage], text: Callable[[RuleMessage], str]) -> Iterator[FilterRule]:
    for number, rule in enumerate(rules, 1):
        yield FilterRule(
            number=number,
            handle=rule.handle,
            expressions=rule.expressions,
            text=text(rule),
            packets=rule.count.packets if rule.count else None,
            bytes=rule.count.bytes if rule.count else None,
            comment=rule.comment or _matched_comment(rule),
        )


def _matched_comment(rule: RuleMessage) -> str:
    """iptables keeps a comment in a match of its own."""
    found = (one.fields.get("comment") for one in rule.expressions if one.name == "xt:comment")
    return str(next(found, ""))
