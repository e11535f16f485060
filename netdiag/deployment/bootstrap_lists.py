"""Lists of bootstrap addresses as people write them, each address with its place in the text.

A list is `host:port` by commas, with or without a scheme, quotes and brackets: what Kafka's clients,
frameworks and JSON or YAML documents accept between them. What is not such a list as a whole is none.
"""

import re

from netdiag.deployment.member import BootstrapAddress

# More addresses than any client is given; what follows would only cost time.
MOST = 100

_ITEM = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9_.+-]{0,62})://)?"
    r"(?:\[(?P<number>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?))"
    r":(?P<port>\d{1,5})(?![\w:@])"
)
# What may stand before the first address; a bracket that holds a number is part of that address.
OPENING = r"(?:\[(?![0-9A-Fa-f:.]{2,45}\])|[\s\"'\\]){0,8}"
_OPEN = re.compile(r"\s*" + OPENING)
_CLOSE = re.compile(r"[\s\"'\\]*,?\s*\]?\s*")
_BETWEEN = re.compile(r"[ \t\"'\\]*,[\s\"'\\]*|[ \t\"']*\n[ \t]*-[ \t]+[\"']?")
_OF_OTHERS = re.compile(
    r"(?i)https?|wss?|amqps?|mqtts?|rediss?|nats|ldaps?|jdbc|zk|tls|udp|unix|s?ftp|ssh|stomp|pulsar|postgres\w*|mysql"
    r"|mongodb|s3"
)


def parse_bootstrap_list(text: str) -> tuple[BootstrapAddress, ...]:
    """The addresses of a text that is a list of them and nothing else; empty for any other."""
    found, end = bootstrap_list_at(text, _position(_OPEN, text, 0))
    return found if found and _position(_CLOSE, text, end) == len(text) else ()


def bootstrap_list_at(text: str, start: int) -> tuple[tuple[BootstrapAddress, ...], int]:
    """The addresses that begin at a position of a text, and where they end."""
    found: list[BootstrapAddress] = []
    position = end = start
    while (item := _ITEM.match(text, position)) is not None:
        address = _address(item)
        if address is None:
            return (), start
        end = item.end()
        if len(found) < MOST:
            found.append(address)
        between = _BETWEEN.match(text, end)
        if between is None:
            break
        position = between.end()
    return tuple(found), end


def _address(item: re.Match[str]) -> BootstrapAddress | None:
    scheme, port = item["scheme"] or "", int(item["port"])
    if _OF_OTHERS.fullmatch(scheme) or not 0 < port < 65536:
        return None
    host = item["number"] or item["host"]
    return BootstrapAddress(host=host, port=port, start=item.start(), end=item.end(), scheme=scheme)


def _position(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start
