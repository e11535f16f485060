"""Few words for many things: `3 brokers`, `broker-{1..5}:29092`, `inside broker-N`."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from netdiag.kafka.listeners import bracketed
from netdiag.patterns import regex

if TYPE_CHECKING:
    # Not loaded to draw a topology.
    from netdiag.deployment.model.verdict import Address

_NUMBERED = regex(r"(?P<head>.*?)(?P<number>\d+)(?P<tail>\D*)", re.DOTALL)


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def numbers_text(numbers: Sequence[int]) -> str:
    """`1..5`, `1,3`, `1..3,7`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(_run_text(run) for run in runs)


def names_text(names: Sequence[str]) -> str:
    """Names that differ in their last number as `broker-1..5`, others one after the other."""
    names = list(dict.fromkeys(names))
    numbered = _numbered(names)
    if len(names) == 1 or numbered is None:
        return ", ".join(names)
    head, numbers, tail = numbered
    text = numbers_text(numbers)
    plain = not tail and "," not in text and not head[-1:].isdigit()
    return f"{head}{text}" if plain else f"{head}{{{text}}}{tail}"


def few_names(names: Sequence[str], most: int = 4) -> str:
    """All the names where their text is short, else the first ones and how many more there are."""
    text = names_text(names)
    return text if text.count(", ") < most else first_names(names, most - 1)


def first_names(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def first_and_last(names: Sequence[str]) -> str:
    """Names that differ in a number, the first and the last of them; one or two are listed."""
    unique = list(dict.fromkeys(names))
    return ", ".join(unique) if len(unique) < 3 else f"{unique[0]} to {unique[-1]}"


def endpoint_text(host: str, port: int) -> str:
    """host:port, with brackets around what has colons of its own; 0 is the port that the host says in words."""
    return f"{bracketed(host)}:{port}" if port else host


def addresses_text(addresses: "Sequence[Address]") -> str:
    """`localhost:9091..9095`, `broker-{1..5}:29092`, or all of them one after the other."""
    addresses = list(dict.fromkeys(addresses))
    hosts = list(dict.fromkeys(a.host for a in addresses))
    ports = list(dict.fromkeys(a.port for a in addresses))
    if len(hosts) == 1:
        return f"{bracketed(hosts[0])}:{_ports_text(ports)}" if ports != [0] else hosts[0]
    if len(ports) == 1 and len(hosts) == len(addresses) and _numbered(hosts):
        return f"{_hosts_text(hosts)}:{ports[0]}" if ports[0] else _hosts_text(hosts)
    if len(hosts) == len(ports) == len(addresses) and _numbered(hosts):
        return f"{_hosts_text(hosts)}:{_ports_text(ports)}"
    return ", ".join(str(a) for a in addresses)


def gathered_text(addresses: "Sequence[Address]") -> str:
    """Many addresses: those that share a host, or else a port, together, whichever are more."""
    addresses = list(dict.fromkeys(addresses))
    hosts, ports = Counter(a.host for a in addresses), Counter(a.port for a in addresses)
    groups: dict[str | int, list[Address]] = {}
    for a in addresses:
        groups.setdefault(a.host if hosts[a.host] >= ports[a.port] else a.port, []).append(a)
    return ", ".join(addresses_text(group) for group in groups.values())


def n_of(name: str) -> int | None:
    """The last number of a name."""
    match = _NUMBERED.fullmatch(name)
    return int(match["number"]) if match and len(match["number"]) < 10 else None


def with_n(names: Sequence[str], numbers: Sequence[int]) -> str | None:
    """The names with N where each has its number; None when that does not describe them all."""
    if len(set(names)) == 1:
        return names[0]
    numbered = _numbered(names)
    if numbered is None or list(numbered[1]) != list(numbers):
        return None
    return f"{numbered[0]}N{numbered[2]}"


def address_with_n(addresses: "Sequence[Address]", numbers: Sequence[int]) -> str | None:
    """`broker-N:909N` where that describes every address for its N; None where it does not."""
    host = with_n([a.host for a in addresses], numbers)
    port = _port_with_n([a.port for a in addresses], numbers)
    if host is None or port is None:
        return None
    return f"{bracketed(host)}:{port}" if port != "0" else host


def _port_with_n(ports: Sequence[int], numbers: Sequence[int]) -> str | None:
    if len(set(ports)) == 1:
        return str(ports[0])
    heads = {
        str(port).removesuffix(str(n)) for port, n in zip(ports, numbers, strict=True) if str(port).endswith(str(n))
    }
    every = all(str(port).endswith(str(n)) for port, n in zip(ports, numbers, strict=True))
    return f"{heads.pop()}N" if every and len(heads) == 1 else None


def _numbered(names: Sequence[str]) -> tuple[str, tuple[int, ...], str] | None:
    """Head, numbers and tail of names that differ in their last number only."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    # Zeros in front of a number belong to the name: broker-0{1..3}.
    parts = [
        (m["head"] + m["number"][: len(m["number"]) - len(number)], number, m["tail"])
        for m in matches
        if m is not None and len(number := m["number"].lstrip("0") or "0") < 10
    ]
    if len(parts) != len(names) or len({(head, tail) for head, _, tail in parts}) != 1:
        return None
    return parts[0][0], tuple(int(number) for _, number, _ in parts), parts[0][2]


def _hosts_text(hosts: Sequence[str]) -> str:
    numbered = _numbered(hosts)
    if numbered is None:
        return ", ".join(hosts)
    head, numbers, tail = numbered
    return f"{head}{{{numbers_text(numbers)}}}{tail}"


def _run_text(run: list[int]) -> str:
    if len(run) == 1:
        return str(run[0])
    return f"{run[0]},{run[1]}" if len(run) == 2 else f"{run[0]}..{run[-1]}"


def _ports_text(ports: Sequence[int]) -> str:
    if len(ports) == 1:
        return str(ports[0])
    text = numbers_text(ports)
    return text if "," not in text else f"{{{text}}}"
