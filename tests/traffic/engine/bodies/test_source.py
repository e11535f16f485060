"""The source that is written for sizes and lengths does what it is written for."""

import struct

import pytest

from netdiag.kafka.protocol import Direction, Field, layout
from netdiag.traffic.engine.bodies.source import Source


def _string(compact: bool) -> Field:
    (field,) = (each for each in layout(12, 4 if compact else 3, Direction.REQUEST).fields if each.name == "group_id")
    return field


def _run(source: Source, data: bytes) -> dict[str, object]:
    names: dict[str, object] = {"b": data, "n": len(data), "d": len(data), **source.readers}
    exec("o = 0\n" + "\n".join(line[4:] for line in source.lines), names)
    return names


@pytest.mark.parametrize("cut", [False, True])
def test_fields_of_fixed_size(cut: bool) -> None:
    source = Source(cut=cut)
    source.fixed("h", "first", ["seen = first"])
    source.fixed("q")
    source.fixed("i", "last")
    source.flush()
    assert len(source.readers) == (2 if cut else 1)
    names = _run(source, struct.pack(">hqi", 5, 6, 7))
    assert (names["first"], names["last"], names["seen"], names["o"]) == (5, 7, 5, 14)
    with pytest.raises((struct.error, IndexError)):
        _run(source, b"\x00" * 13)


@pytest.mark.parametrize("compact", [False, True])
def test_lengths(compact: bool) -> None:
    source = Source(cut=False)
    source.length(_string(compact), "length")
    assert _run(source, b"\x06" if compact else b"\x00\x05")["length"] == 5


def test_a_loop_that_only_steps_over_is_a_multiplication() -> None:
    source = Source(cut=False)
    source.line("count = b[o]", "o += 1")
    with source.loop("count"):
        source.fixed("i")
        source.fixed("q")
    assert source.lines[-1] == "    o += count * 12"
    assert _run(source, b"\x03" + bytes(36))["o"] == 37


def test_an_empty_block_does_nothing() -> None:
    source = Source(cut=False)
    with source.block("if b:"):
        pass
    assert _run(source, b"x")["o"] == 0
