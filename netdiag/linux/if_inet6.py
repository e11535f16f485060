"""The IPv6 addresses of a namespace, as `/proc/PID/net/if_inet6` lists them."""

import ipaddress


def parse_if_inet6(text: str) -> tuple[str, ...]:
    """The addresses; an empty or absent file is a namespace without IPv6."""
    found: list[str] = []
    for line in text.splitlines():
        digits = line.partition(" ")[0]
        if len(digits) == 32:
            try:
                found.append(str(ipaddress.IPv6Address(bytes.fromhex(digits))))
            except ValueError:
                continue
    return tuple(found)
