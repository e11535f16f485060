"""Kafka's grammar of `controller.quorum.voters`: `{id}@{host}:{port}`, separated by commas.

Follows `QuorumConfig.parseVoterConnections` of Apache Kafka 3.9 (`RaftConfig` before 3.8) and `Utils.getHost`. Every
entry keeps its offsets in the value so that a finding can point at it.
"""

import re

from netdiag.kafka.listeners import split_items
from netdiag.patterns import regex
from netdiag.values import dataclass

_ADDRESS = regex(r"(?:[0-9a-zA-Z\-%._]*://)?\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>[0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """One member of the quorum as its peers find it, with the offsets of the entry in the value."""

    node_id: int
    host: str
    port: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedVoter:
    """An entry that the broker cannot parse; `prints` is the constant part of what it says about it."""

    text: str
    start: int
    end: int
    prints: str


def parse_voters(value: str) -> tuple[Voter | MalformedVoter, ...]:
    """The entries in order."""
    return tuple(_parse(text, start) for text, start in split_items(value))


def _parse(text: str, start: int) -> Voter | MalformedVoter:
    end = start + len(text)
    parts = text.split("@")
    if len(parts) != 2 or not parts[1]:
        return MalformedVoter(
            text=text, start=start, end=end, prints="Each entry should be in the form `{id}@{host}:{port}`."
        )
    number, address = parts
    if re.fullmatch(r"[+-]?[0-9]+", number) is None:
        prints = f"Failed to parse voter ID as an integer from {number}"
        return MalformedVoter(text=text, start=start, end=end, prints=prints)
    match = _ADDRESS.fullmatch(address)
    if match is None:
        prints = f"Failed to parse host name from entry {text}"
        return MalformedVoter(text=text, start=start, end=end, prints=prints)
    return Voter(node_id=int(number), host=match["host"], port=int(match["port"]), start=start, end=end)
