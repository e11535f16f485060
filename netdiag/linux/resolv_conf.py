"""A resolver configuration (resolv.conf(5)): which servers are asked, and for which names."""

import ipaddress
from dataclasses import dataclass

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
            case "nameserver" if _is_address(words[1]):
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
    return (name, int(value)) if value.isdecimal() else (f"{name} (switch)", 1)


def _is_address(word: str) -> bool:
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return False
    return True
