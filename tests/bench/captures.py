"""The captures that are measured: recipes, and a cache of what was made of them.

A capture is kept under the digest of its recipe, whole or not at all. NETDIAG_BENCH_CACHE says where, else
.cache/bench in the repository. Clients do not send the same twice: what is told beside a figure is counted in the file.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.bench.growing import grow
from tests.bench.making import make
from tests.bench.recording import CannotRecord, record
from tests.house.tree import ROOT
from tests.lab.cache import digest, entry

# Raised when the makers give something else for the same recipe.
_RECORDED, _MADE = 3, 4
_FILE, _FACTS = "capture.pcap", "facts.json"
_MEGABYTE = 1_000_000
_SPARE = 2_000_000_000
_MADE_PORTS = (9092,)
SEED_SECONDS = 60

Facts = Mapping[str, int | Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a capture is made of. `mix` is one of real clients, "made" is our own generator's."""

    mix: str
    megabytes: int
    seconds: int = SEED_SECONDS
    connections: int = 0
    largest: int = 0
    sightings: int = 1

    @property
    def name(self) -> str:
        """A few words for a page."""
        size = f"{self.megabytes / 1000:g} GB" if self.megabytes >= 1000 else f"{self.megabytes} MB"
        if self.mix != "made":
            return f"{self.mix}, {size}"
        message = f", a message of {self.largest // _MEGABYTE} MB" if self.largest else ""
        seen = f", each seen {self.sightings} times" if self.sightings > 1 else ""
        return f"{size} over {self.connections:,} connection{'s' if self.connections > 1 else ''}{message}{seen}"

    @property
    def digest(self) -> str:
        """What a capture of it is kept under."""
        told = {name: value for name, value in asdict(self).items() if name != "sightings" or value > 1}
        return digest(json.dumps([_MADE if self.mix == "made" else _RECORDED, told]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A file, and what is known of it.

    `exchanges` is -1 where real clients decided; `dropped` packets were missed when they were recorded.
    """

    path: Path
    recipe: Recipe
    ports: tuple[int, ...]
    packets: int
    exchanges: int = -1
    dropped: int = 0
    made_instead: bool = False

    @property
    def size(self) -> int:
        """In bytes."""
        return self.path.stat().st_size


class NoRoom(Exception):
    """The disk is too small for a capture; says so."""


def obtain(recipe: Recipe) -> Capture:
    """The capture of a recipe, from the cache or made now.

    Where no clients can be recorded our own generator stands in for them, and the capture says so.
    """
    if recipe.mix == "made":
        return _kept(recipe, lambda folder: _make(folder, recipe))
    try:
        seed = _kept(replace(recipe, megabytes=0), lambda folder: _record(folder, recipe))
    except CannotRecord as error:
        print(f"no capture of real clients here: {error}; our own generator stands in for them", file=sys.stderr)
        return replace(obtain(replace(recipe, mix="made", connections=200)), made_instead=True)
    return _kept(recipe, lambda folder: _grow(folder, recipe, seed))


def cache() -> Path:
    """Where captures are kept."""
    return Path(os.environ.get("NETDIAG_BENCH_CACHE") or ROOT / ".cache" / "bench")


def forget(capture: Capture) -> None:
    """Take a capture from the cache."""
    shutil.rmtree(capture.path.parent, ignore_errors=True)


def _kept(recipe: Recipe, make_in: Callable[[Path], Facts]) -> Capture:
    def build(folder: Path) -> None:
        print(f"making a capture: {recipe.name}", file=sys.stderr, flush=True)
        needed = recipe.megabytes * _MEGABYTE + _SPARE
        if shutil.disk_usage(folder).free < needed:
            raise NoRoom(f"{recipe.name}: {needed // 10**9} GB of disk are not free")
        (folder / _FACTS).write_text(json.dumps(make_in(folder)), encoding="utf-8")

    folder = entry(cache(), "captures", recipe.digest, build)
    facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    return Capture(path=folder / _FILE, recipe=recipe, **{**facts, "ports": tuple(facts["ports"])})


def _record(folder: Path, recipe: Recipe) -> Facts:
    recording = record(folder / _FILE, recipe.mix, recipe.seconds)
    return {"ports": recording.ports, "packets": -1, "dropped": recording.dropped}


def _grow(folder: Path, recipe: Recipe, seed: Capture) -> Facts:
    packets = grow(seed.path, folder / _FILE, recipe.megabytes * _MEGABYTE, seed.ports)
    return {"ports": seed.ports, "packets": packets, "dropped": seed.dropped}


def _make(folder: Path, recipe: Recipe) -> Facts:
    size = recipe.megabytes * _MEGABYTE
    made = make(
        folder / _FILE,
        size,
        connections=recipe.connections,
        largest=recipe.largest,
        sightings=recipe.sightings,
    )
    return {"ports": _MADE_PORTS, "packets": made.packets, "exchanges": made.exchanges}
