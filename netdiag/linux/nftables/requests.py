"""Questions to nf_tables as bytes: whole netlink messages, in which the sender sets number and flags.

Sources: linux/netfilter/nfnetlink.h, linux/netfilter/nf_tables.h.
"""

import struct

_SUBSYSTEM = 10
_GETTABLE, _GETCHAIN, _GETRULE, _GETSET, _GETSETELEM, _GETFLOWTABLE = 1, 4, 7, 10, 13, 23
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_MESSAGE = struct.Struct("=IHHIIBBH")
_UNSPECIFIED = 0
_TABLE, _SET = 1, 2

# NFPROTO_* by the words of nft.
FAMILIES = {"inet": 1, "ip": 2, "arp": 3, "netdev": 5, "bridge": 7, "ip6": 10}


def get_tables() -> bytes:
    """All tables of all families."""
    return _dump(_GETTABLE)


def get_chains() -> bytes:
    """All chains."""
    return _dump(_GETCHAIN)


def get_rules() -> bytes:
    """All rules."""
    return _dump(_GETRULE)


def get_sets() -> bytes:
    """All sets and maps, without their elements."""
    return _dump(_GETSET)


def get_flowtables() -> bytes:
    """All flow tables."""
    return _dump(_GETFLOWTABLE)


def get_elements(family: str, table: str, name: str) -> bytes:
    """The elements of one set."""
    words = (_TABLE, table), (_SET, name)
    return _dump(_GETSETELEM, FAMILIES[family], b"".join(_attribute(kind, word) for kind, word in words))


def _dump(kind: int, family: int = _UNSPECIFIED, attributes: bytes = b"") -> bytes:
    flags = _NLM_F_REQUEST | _NLM_F_DUMP
    header = _MESSAGE.pack(_MESSAGE.size + len(attributes), _SUBSYSTEM << 8 | kind, flags, 0, 0, family, 0, 0)
    return header + attributes


def _attribute(kind: int, word: str) -> bytes:
    value = word.encode("utf-8", errors="surrogateescape") + b"\0"
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)
