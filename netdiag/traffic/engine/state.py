"""The state of the engine as bytes, so that another process can go on where this one stopped.

The bytes are a pickle, because it keeps which objects are one and the same and is fast with many small ones, behind a
line that names the format, a hash of the layout of our classes, and a hash of the content. A pickle can name any class
of any module; this one is read by a reader that knows the few classes that are listed here and refuses all others, so
that a forged file can build nothing but tables, numbers and text. It lies in a folder of the user's own, and whoever
can write there can do worse; the hashes are against damage and against other versions of netdiag.
"""

import io
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import Any

MAGIC = b"netdiag state 1\n"
_HASH = 32
_ENGINE = "netdiag.traffic.engine."
_CLASSES = {
    "account": ("Account",),
    "assemble": ("Asked",),
    "assembly": ("Assembly",),
    "bodies.facts": (
        "BatchFacts",
        "EndpointFacts",
        "LeaderFacts",
        "PartitionFacts",
        "RequestFacts",
        "ResponseFacts",
    ),
    "bodies.walkers": ("made_again",),
    "connection": ("Connection",),
    "delivery": ("Delivery", "Held"),
    "dialogue": ("Dialogue",),
    "frames": ("Framer",),
    "handshake": ("Handshake",),
    "headers": ("RequestHeader",),
    "linking": ("Linker", "_Recent"),
    "losses": ("Losses",),
    "message": ("Message", "Spoken"),
    "names": ("Names", "_Asked"),
    "packet": ("Packet", "Undecoded"),
    "pairing": ("Digest", "Pairing"),
    "pcap": ("PcapReader",),
    "pcapng": ("PcapngReader", "Interface"),
    "pending": ("Pending",),
    "records": ("CaptureReader",),
    "resync": ("Searcher",),
    "sessions": ("FetchSessions",),
    "talk": ("Talk",),
    "topic_ids": ("TopicIds",),
    "unframed": ("Piece",),
}
_KNOWN = {(_ENGINE + module, name) for module, names in _CLASSES.items() for name in names}
_BUILT_IN = {("builtins", "memoryview"), ("collections", "OrderedDict"), ("collections", "deque")}


class DamagedState(Exception):
    """These bytes are not the state of this version of netdiag; says what they are instead."""


def encode(value: Any) -> bytes:
    """What `decode` gives back: our classes that are listed here, and what is built in."""
    stream = io.BytesIO()
    _Writer(stream, protocol=5).dump(value)
    content = stream.getvalue()
    return b"".join((MAGIC, _layout(), sha256(content).digest(), content))


def decode(data: bytes) -> Any:
    """What was encoded; DamagedState for anything else."""
    if not data.startswith(MAGIC):
        raise DamagedState("is no state of netdiag")
    at = len(MAGIC)
    if data[at : at + _HASH] != _layout():
        raise DamagedState("was written by another version of netdiag")
    content = memoryview(data)[at + 2 * _HASH :]
    if sha256(content).digest() != data[at + _HASH : at + 2 * _HASH]:
        raise DamagedState("is damaged")
    with reading_state():
        return _Reader(io.BytesIO(content)).load()


@contextmanager
def reading_state() -> Iterator[None]:
    """Whatever fails while foreign bytes are taken for a state fails because they are none."""
    try:
        yield
    except (DamagedState, KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:
        raise DamagedState("contradicts itself") from error


class _Writer(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, memoryview):
            return memoryview, (bytes(obj),)
        if isinstance(obj, Enum):
            # by its value: Python 3.11.2 would name getattr, which may name anything
            return type(obj), (obj.value,)
        return NotImplemented


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _KNOWN or (module, name) in _BUILT_IN:
            return getattr(import_module(module), name)
        raise DamagedState("names what is no part of a state")


@cache
def _layout() -> bytes:
    """A hash of the classes and of what they hold."""
    lines = [f"{module} {name} {_fields(module, name)}" for module, name in sorted(_KNOWN)]
    return sha256("\n".join(lines).encode()).digest()


def _fields(module: str, name: str) -> tuple[str, ...]:
    known = getattr(import_module(module), name)
    if hasattr(known, "_fields"):
        return tuple(known._fields)
    if hasattr(known, "__slots__"):
        return tuple(known.__slots__)
    # What its methods name is what it holds.
    made = getattr(known, "__init__", known)
    return tuple(made.__code__.co_names) if hasattr(made, "__code__") else ()
