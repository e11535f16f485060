"""Addresses as users write them: HOST:PORT, and lists of bootstrap servers."""

from netdiag.deployment.model.contact import Address
from netdiag.errors import UsageError

_MOST_BOOTSTRAPS = 100
_HIGHEST_PORT = 65535


def parse_address(text: str) -> Address:
    """`name:port`, `1.2.3.4:port`, `[::1]:port`; UsageError for others."""
    host, colon, number = text.rpartition(":")
    if not colon or not number.isascii() or not number.isdecimal() or not 0 < int(number) <= _HIGHEST_PORT:
        raise UsageError(f"{text!r} is not an address with a port: write broker-1:9092 or [::1]:9092")
    bracketed = host.startswith("[") and host.endswith("]")
    if not host or (":" in host and not bracketed):
        raise UsageError(f"{text!r} is not an address with a port: write IPv6 addresses in brackets")
    return Address(host=host[1:-1] if bracketed else host, port=int(number))


def parse_bootstraps(text: str) -> tuple[Address, ...]:
    """`a:1,b:2`, also with `PLAINTEXT://` before them, each once; UsageError for others."""
    words = [word.strip().rpartition("://")[2] for word in text.split(",") if word.strip()]
    if not words:
        raise UsageError("no address is given: write broker-1:9092 or [::1]:9092")
    if len(words) > _MOST_BOOTSTRAPS:
        raise UsageError(f"{len(words)} addresses: at most {_MOST_BOOTSTRAPS} at a time")
    return tuple(dict.fromkeys(map(parse_address, words)))
