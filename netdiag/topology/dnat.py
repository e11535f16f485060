"""Rules that rewrite the destination, found in a ruleset of whichever interface.

They are read from the text of rules, which is what `iptables-save` and `nft list ruleset` print.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from netdiag.linux.ruleset import FilterRule, Origin, RuleAddress, Ruleset

_ENDPOINT = r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<v4>[0-9.]+)|(?P<bare>[0-9a-fA-F:.]+))"
_IPTABLES_GOAL = re.compile(rf"{_ENDPOINT}(?::(?P<port>\d+))?")
_IPTABLES_COMMENT = re.compile(r' --comment (?:"(?:[^"\\]|\\.)*"|\S+)')
_NFT_COMMENT = re.compile(r' comment "(?:[^"\\]|\\.)*"')
_NFT_TARGET = re.compile(rf"\bdnat (?:ip6? )?to {_ENDPOINT}(?::(?P<port>\d+))?(?![\w.:-])")
_NFT_PORT = re.compile(r"\b(?P<protocol>tcp|udp|sctp) dport (?P<first>\d+)(?:-(?P<last>\d+))?(?!\S)")
_NFT_TO = re.compile(r"\bip6? daddr (?P<address>[0-9a-fA-F.:]+)(?:/(?:32|128))?(?!\S)")
_NFT_NOT_ON = re.compile(r'\biifname != "(?P<name>[^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class DnatRule:
    """One of them: what comes for `protocol` and a port of `ports` at `host_ip` ("" for any) goes to `to_address`.

    `to_port` None keeps the port that was asked for. `not_from` is the device that the rule leaves out, "" for none.
    """

    address: RuleAddress
    protocol: str
    host_ip: str
    ports: range
    to_address: str
    to_port: int | None
    not_from: str = ""

    @property
    def text(self) -> str:
        """The rule as its own tool prints it."""
        return self.address.text

    def takes(self, *, protocol: str, host_ip: str, port: int) -> bool:
        """Whether it rewrites what comes for this port at this address; "0.0.0.0" and "::" stand for all."""
        if protocol != self.protocol or port not in self.ports or is_v6(host_ip) != is_v6(self.to_address):
            return False
        return self.host_ip in ("", host_ip)


def dnat_rules(ruleset: Ruleset) -> tuple[DnatRule, ...]:
    """Every rule that rewrites a destination to one address for ports that it names; others are passed over."""
    return tuple(_found(ruleset))


def is_v6(address: str) -> bool:
    """Whether an address is an IPv6 one."""
    return ":" in address


def _found(ruleset: Ruleset) -> Iterator[DnatRule]:
    for table in ruleset.tables:
        for chain in table.chains:
            for rule in chain.rules:
                address = RuleAddress(
                    family=table.family,
                    table=table.name,
                    chain=chain.name,
                    number=rule.number,
                    handle=rule.handle,
                    text=rule.text,
                    origin=table.origin,
                )
                made = _of_nft(rule, address) if table.origin is Origin.NFTABLES else _of_iptables(rule, address)
                if made is not None:
                    yield made


def _of_iptables(rule: FilterRule, address: RuleAddress) -> DnatRule | None:
    words = _IPTABLES_COMMENT.sub("", rule.text).split()
    options = {word: index for index, word in enumerate(words) if word.startswith("-")}

    def value(name: str) -> tuple[str, bool]:
        """What follows an option, and whether it is negated."""
        index = options.get(name, len(words))
        return (words[index + 1], words[index - 1] == "!") if index + 1 < len(words) else ("", False)

    (target, _), (goal, _) = value("-j"), value("--to-destination")
    (host_ip, not_at), (port, not_port), (protocol, not_protocol) = value("-d"), value("--dport"), value("-p")
    ports, place = _ports(port.replace(":", "-")), _IPTABLES_GOAL.fullmatch(goal)
    if target != "DNAT" or ports is None or place is None or not_at or not_port or not_protocol:
        return None
    device, negated = value("-i")
    return DnatRule(
        address=address,
        protocol=protocol,
        host_ip=_host_ip(host_ip),
        ports=ports,
        to_address=_address(place),
        to_port=int(place["port"]) if place["port"] else None,
        not_from=device if negated else "",
    )


def _of_nft(rule: FilterRule, address: RuleAddress) -> DnatRule | None:
    text = _NFT_COMMENT.sub("", rule.text)
    target, port = _NFT_TARGET.search(text), _NFT_PORT.search(text)
    if target is None or port is None:
        return None
    at, device = _NFT_TO.search(text), _NFT_NOT_ON.search(text)
    ports = _ports(port["first"] + (f"-{port['last']}" if port["last"] else ""))
    if ports is None:
        return None
    return DnatRule(
        address=address,
        protocol=port["protocol"],
        host_ip=at["address"] if at is not None else "",
        ports=ports,
        to_address=_address(target),
        to_port=int(target["port"]) if target["port"] else None,
        not_from=device["name"] if device is not None else "",
    )


def _address(found: re.Match[str]) -> str:
    return found["v6"] or found["v4"] or found["bare"] or ""


def _host_ip(text: str) -> str:
    address, _, length = text.partition("/")
    return "" if length == "0" else address


def _ports(text: str) -> range | None:
    first, _, last = text.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        return None
    return range(int(first), int(last or first) + 1)
