"""The TCP sockets that listen in another process's network namespace, read from /proc."""

from __future__ import annotations

import ipaddress
from pathlib import Path

_LISTEN = "0A"


def listening(pid: int) -> list[tuple[str, int]]:
    """(address to dial, port) of every listening socket that `pid`'s namespace has."""
    found = set()
    for name in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN:
                address, _, port = fields[1].partition(":")
                found.add((_dialled(address), int(port, 16)))
    return sorted(found, key=lambda one: (one[1], one[0]))


def _dialled(hexadecimal: str) -> str:
    """The kernel prints 32-bit words in the machine's order; a wildcard is dialled on loopback."""
    raw = bytes.fromhex(hexadecimal)
    words = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(words)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return "127.0.0.1" if address.is_unspecified else str(address)
