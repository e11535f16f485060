"""What a resolver works with: a hosts file (hosts(5)), resolv.conf(5), and the answer of a name server."""

import ipaddress
from collections.abc import Mapping
from enum import Enum

from netdiag.digits import number_of
from netdiag.values import dataclass


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


# The limits of the GNU C library (resolv.h: MAXNS, RES_MAXNDOTS, RES_MAXRETRANS, RES_MAXRETRY).
_MOST_SERVERS = 3
_MOST_DOTS = 15
_LONGEST_TIMEOUT = 30
_MOST_ATTEMPTS = 5
_MOST_SEARCH_DOMAINS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvConf:
    """`timeout` is in seconds per attempt."""

    nameservers: tuple[str, ...] = ("127.0.0.1",)
    search: tuple[str, ...] = ()
    ndots: int = 1
    timeout: int = 5
    attempts: int = 2

    def candidates(self, name: str) -> tuple[str, ...]:
        """The absolute names that are asked for `name`, in order, each without its final dot.

        A final dot asks for the name alone; `ndots` dots in it, or more, try it as it stands before the search list.
        """
        if name.endswith("."):
            return (name.rstrip("."),)
        searched = tuple(f"{name}.{domain}" for domain in self.search if domain)
        ordered = (name, *searched) if name.count(".") >= self.ndots else (*searched, name)
        return tuple(dict.fromkeys(ordered))


def parse_resolv_conf(text: str) -> ResolvConf:
    """The configuration in force: of several `search` or `domain` lines the last counts."""
    nameservers: list[str] = []
    search: tuple[str, ...] = ()
    options: dict[str, int] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 2 or words[0][0] in "#;":
            continue
        match words[0]:
            case "nameserver" if _resolv_conf_is_address(words[1]):
                nameservers.append(words[1])
            case "search" | "domain":
                found = words[1:] if words[0] == "search" else words[1:2]
                search = tuple(domain.strip(".") for domain in found)[:_MOST_SEARCH_DOMAINS]
            case "options":
                options |= dict(_option(word) for word in words[1:])
    return ResolvConf(
        nameservers=tuple(nameservers[:_MOST_SERVERS]) or ("127.0.0.1",),
        search=tuple(domain for domain in search if domain),
        ndots=min(options.get("ndots", 1), _MOST_DOTS),
        timeout=min(max(options.get("timeout", 5), 1), _LONGEST_TIMEOUT),
        attempts=min(max(options.get("attempts", 2), 1), _MOST_ATTEMPTS),
    )


def _option(word: str) -> tuple[str, int]:
    """`name:number`; a word without a number is a switch, which nothing here asks for."""
    name, _, value = word.partition(":")
    number = number_of(value)
    return (f"{name} (switch)", 1) if number is None else (name, number)


def _resolv_conf_is_address(word: str) -> bool:
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return False
    return True


NOERROR = 0
NXDOMAIN = 3

# RFC 1035 section 4.1.1 and RFC 6895; others are shown by number.
_RCODE_NAMES = {1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}


class Lookup(Enum):
    """The result of one DNS query for one name."""

    FOUND = "found"
    NO_SUCH_NAME = "no such name"
    NO_ADDRESS = "no address"
    SERVER_FAILED = "server failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsAnswer:
    """A decoded answer: its response code and the addresses in it."""

    rcode: int
    addresses: tuple[str, ...] = ()

    @property
    def lookup(self) -> Lookup:
        """What the client does next: no name or no address leads to the next candidate, an error to the next server."""
        if self.rcode == NXDOMAIN:
            return Lookup.NO_SUCH_NAME
        if self.rcode != NOERROR:
            return Lookup.SERVER_FAILED
        return Lookup.FOUND if self.addresses else Lookup.NO_ADDRESS

    @property
    def word(self) -> str:
        """The answer in the words of DNS tools."""
        if self.rcode == NOERROR:
            return "no address record"
        return _RCODE_NAMES.get(self.rcode, f"RCODE {self.rcode}")
