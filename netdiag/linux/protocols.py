"""Protocols above IP by name and number, as protocols(5) names them."""

NUMBERS = {
    "ip": 0,
    "icmp": 1,
    "igmp": 2,
    "ipencap": 4,
    "tcp": 6,
    "egp": 8,
    "udp": 17,
    "dccp": 33,
    "ipv6": 41,
    "ipv6-route": 43,
    "ipv6-frag": 44,
    "rsvp": 46,
    "gre": 47,
    "esp": 50,
    "ah": 51,
    "ipv6-icmp": 58,
    "icmpv6": 58,
    "ospf": 89,
    "pim": 103,
    "ipcomp": 108,
    "vrrp": 112,
    "sctp": 132,
    "udplite": 136,
}
_WORDS = {number: word for word, number in reversed(NUMBERS.items())}


def protocol_number(name: str) -> int | None:
    """IPPROTO_* of a protocol's name or number; None for a name that is not known."""
    if name in NUMBERS:
        return NUMBERS[name]
    return int(name) if name.isdecimal() and len(name) < 4 and int(name) < 256 else None


def protocol_word(number: int) -> str:
    """Its name, or the number as text."""
    return _WORDS.get(number, str(number))
