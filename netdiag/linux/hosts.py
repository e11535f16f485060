"""A hosts file (hosts(5)): names and the addresses they stand for."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsFile:
    """Lower-case names with their addresses, in the order of the file."""

    addresses: Mapping[str, tuple[str, ...]]

    def lookup(self, name: str) -> tuple[str, ...]:
        """The addresses of a name; empty when the file does not know it. Case and a final dot do not count."""
        return self.addresses.get(name.lower().removesuffix("."), ())


def parse_hosts(text: str) -> HostsFile:
    """The entries of a hosts file; lines whose address is none are ignored, as the C library does."""
    found: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if len(words) < 2 or not _is_address(words[0]):
            continue
        for name in words[1:]:
            found.setdefault(name.lower().removesuffix("."), {})[words[0]] = None
    return HostsFile(addresses={name: tuple(addresses) for name, addresses in found.items()})


def _is_address(word: str) -> bool:
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return False
    return True
