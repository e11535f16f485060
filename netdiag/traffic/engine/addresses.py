"""Addresses of packets as text."""

from functools import lru_cache
from ipaddress import IPv6Address


@lru_cache(maxsize=65536)
def endpoint_text(address: bytes, port: int) -> str:
    """`10.0.0.1:9092`, `[fe80::1]:9092` of the 4 or 16 bytes of an address; an IPv4-mapped one as IPv4."""
    if len(address) == 4:
        return f"{address[0]}.{address[1]}.{address[2]}.{address[3]}:{port}"
    version6 = IPv6Address(address)
    mapped = version6.ipv4_mapped
    return f"{mapped}:{port}" if mapped is not None else f"[{version6}]:{port}"


def endpoint_of_text(address: str, port: int) -> str:
    """The same of an address that is text already."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
