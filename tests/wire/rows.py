"""Rows of every table that the engine makes of captures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netdiag.io.captures import Captures
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.run import Engine


def read_rows(*files: Path) -> Mapping[str, Sequence[Any]]:
    """By table."""
    captures = Captures([str(file) for file in files])
    engine = Engine(EngineOptions(), [file.name for file in captures.files])
    for packet in captures.packets():
        engine.feed(packet)
    engine.finish()
    return engine.drain()
