"""Answers of nf_tables, put together by hand."""

import struct


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def number(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack("!I", value))


def long(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack("!Q", value))


def word(kind: int, value: str) -> bytes:
    return attribute(kind, value.encode(errors="surrogateescape") + b"\0")


def expression(name: str, *parts: bytes) -> bytes:
    return attribute(1, word(1, name) + attribute(2, b"".join(parts)))


def data(kind: int, value: bytes) -> bytes:
    return attribute(kind, attribute(1, value))


def verdict(code: int, chain: str = "") -> bytes:
    inside = attribute(1, struct.pack("!i", code)) + (word(2, chain) if chain else b"")
    return expression("immediate", number(1, 0), attribute(2, attribute(2, inside)))


def payload(family: int, *parts: bytes) -> memoryview:
    return memoryview(bytes([family, 0, 0, 0]) + b"".join(parts))


TCP_PORT_80 = (
    expression("meta", number(1, 1), number(2, 16)),
    expression("cmp", number(1, 1), number(2, 0), data(3, b"\6")),
    expression("payload", number(1, 1), number(2, 2), number(3, 2), number(4, 2)),
    expression("cmp", number(1, 1), number(2, 0), data(3, b"\0\x50")),
)
COUNTED = expression("counter", long(1, 300), long(2, 5))


def rule(family: int, table: str, chain: str, handle: int, *expressions: bytes, comment: str = "") -> memoryview:
    notes = comment.encode() + b"\0" if comment else b""
    extra = attribute(7, bytes([0, len(notes)]) + notes) if comment else b""
    inside = attribute(4, b"".join(expressions))
    return payload(family, word(1, table), word(2, chain), long(3, handle), inside, extra)


def chain(
    family: int,
    table: str,
    name: str,
    *,
    hook: int | None = None,
    kind: str = "filter",
    priority: int = 0,
    policy: int = 1,
) -> memoryview:
    parts = [word(1, table), long(2, 1), word(3, name)]
    if hook is not None:
        parts += [attribute(4, number(1, hook) + attribute(2, struct.pack("!i", priority)))]
        parts += [number(5, policy), word(7, kind)]
    return payload(family, *parts)
