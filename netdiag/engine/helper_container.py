"""The helper container of `--via container`: what the engine is asked to make, and what it and netdiag say.

The container has the docker host's network and processes, a read-only root, no more rights than a look needs, and
memory for the files that go along; nothing of it is on the docker host, and nothing of an order is in what
`docker inspect` shows.

The conversation is one order there, frames and a status back. There: eight bytes of length and the order in JSON; then
single bytes, `ALIVE` every few seconds, `INTERRUPT` for Ctrl-C, and the end of the stream when nobody waits any more.
Back: frames of a kind, four bytes of length and data. Numbers are big-endian.
"""

import json
import struct
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field
from enum import Enum
from typing import Any

from netdiag.errors import InputError
from netdiag.values import dataclass

LABEL = "org.netdiag.helper"
NAME = "netdiag-helper-"
SOCKET = "/var/run/docker.sock"
NAMED_NAMESPACES = "/run/netns"
COMMAND = ("python", "-m", "netdiag.cli.in_helper")
# Folders of every Linux; below those that are shared, other programs may have folders, too.
_SHARED = frozenset({"etc", "opt", "run", "usr", "var"})
_OF_THE_IMAGE = _SHARED | {"bin", "boot", "dev", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys"}
_HIDING = frozenset({("opt", "netdiag"), ("run", "netns"), ("var", "run")}) | {
    ("usr", name) for name in ("bin", "include", "lib", "lib32", "lib64", "libexec", "local", "sbin", "share")
}
_MEMORY = "size=256m,mode=0700,nosuid,nodev,noexec"
# A helper that could not be made to listen is given up long before; this is for those that nobody remembers.
STOP_SECONDS = 2


class Right(Enum):
    """A capability; the value is the engine's word."""

    ENTER = "SYS_ADMIN"
    LOOK_INTO_PROCESSES = "SYS_PTRACE"
    READ_DESCRIPTORS = "DAC_READ_SEARCH"
    READ_RULES = "NET_ADMIN"
    SEE_PACKETS = "NET_RAW"


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A helper to be made. `socket` is the engine's on its machine, `shown_as` its path in the helper.

    `folders` are held in memory, `named` is whether the namespaces that `ip netns` named are there to be shown.
    """

    image: str
    socket: str
    shown_as: str
    rights: Sequence[Right]
    folders: Sequence[str] = ()
    named: bool = True

    def document(self) -> dict[str, Any]:
        """The body of `POST /containers/create`."""
        mounts = [_bind(self.socket, self.shown_as)]
        if self.named:
            mounts.append(_bind(NAMED_NAMESPACES, NAMED_NAMESPACES))
        return {
            "Image": self.image,
            "Entrypoint": list(COMMAND),
            "Cmd": [],
            "User": "0:0",
            "WorkingDir": "/",
            "OpenStdin": True,
            # The end of the client is the end of its connection, and that is the end of standard input.
            "StdinOnce": True,
            "AttachStdin": True,
            "AttachStdout": True,
            "AttachStderr": True,
            "Tty": False,
            "Labels": {LABEL: "1"},
            "Healthcheck": {"Test": ["NONE"]},
            "StopTimeout": STOP_SECONDS,
            "HostConfig": {
                "NetworkMode": "host",
                "PidMode": "host",
                "UsernsMode": "host",
                "ReadonlyRootfs": True,
                "CapDrop": ["ALL"],
                "CapAdd": [right.value for right in self.rights],
                # AppArmor's profile for containers lets nobody look into processes of the docker host.
                "SecurityOpt": ["no-new-privileges", "apparmor=unconfined", "label=disable"],
                "Mounts": mounts,
                "Tmpfs": dict.fromkeys(self.folders, _MEMORY),
                # What it prints is nobody else's, so no log of it is kept.
                "LogConfig": {"Type": "none", "Config": {}},
                "AutoRemove": True,
                "RestartPolicy": {"Name": "no"},
            },
        }


def is_helper(labels: Mapping[str, str]) -> bool:
    """Whether a container is a helper of some netdiag, which is no part of what is looked at."""
    return LABEL in labels


def in_memory(folders: Sequence[str]) -> tuple[str, ...]:
    """The places where folders for files can be made: as high as nothing of the image lies below.

    InputError for a folder that would hide what the helper itself is made of.
    """
    found: dict[str, None] = {}
    for folder in folders:
        parts = [part for part in folder.split("/") if part]
        if not parts:
            continue
        if parts[0] not in _OF_THE_IMAGE:
            found[f"/{parts[0]}"] = None
        elif tuple(parts[:2]) in _HIDING or parts[0] not in _SHARED or len(parts) == 1:
            raise InputError(
                "its files cannot go along to the helper container", where=folder, hint="copy them elsewhere"
            )
        else:
            found[f"/{parts[0]}/{parts[1]}"] = None
    return tuple(found)


def _bind(source: str, target: str) -> dict[str, Any]:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": True}


PROTOCOL = 1
LARGEST_ORDER = 128 * 1024 * 1024
LARGEST_FRAME = 128 * 1024 * 1024
ALIVE = b"."
INTERRUPT = b"\x03"
# Seconds: so often each side tells that it is there, and so long silence is borne.
EVERY = 5.0
SILENCE = 60.0
_LENGTH = struct.Struct(">Q")
_HEAD = struct.Struct(">cI")


class Garbled(Exception):
    """Bytes that no helper sends."""


class Kind(Enum):
    """What a frame holds."""

    HELLO = b"H"
    OUT = b"O"
    ERRORS = b"E"
    FILE = b"F"
    STATUS = b"S"
    ALIVE = b"A"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """What the client's standard streams are, for whoever writes in their stead."""

    out: bool = False
    errors: bool = False
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A command, and all that it may read. Paths are absolute.

    `results` are files that it may write, `links` lead from a name of the working folder to the folder itself,
    `container` is the id of the helper: the engine must know it. `stdin` of None is an empty one.
    """

    words: tuple[str, ...]
    folder: str
    container: str
    socket: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    folders: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    results: tuple[str, ...] = ()
    stdin: bytes | None = field(default=None, repr=False)
    terminal: Terminal = field(default_factory=Terminal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The first words of a helper."""

    protocol: int
    version: str
    rights: tuple[str, ...]


def encode_order(order: Order) -> bytes:
    """The bytes of an order, with their length before them."""
    document = {name: getattr(order, name) for name in ("words", "folder", "container", "socket", "folders", "results")}
    document |= {"environment": dict(order.environment), "links": dict(order.links)}
    document["files"] = {path: _text(data) for path, data in order.files.items()}
    document["stdin"] = None if order.stdin is None else _text(order.stdin)
    document["terminal"] = asdict(order.terminal)
    body = json.dumps(document).encode()
    return _LENGTH.pack(len(body)) + body


def length_of(head: bytes) -> int:
    """How long an order is, by its first eight bytes; Garbled where that cannot be."""
    length: int = _LENGTH.unpack(head)[0]
    if length > LARGEST_ORDER:
        raise Garbled(f"an order of {length} bytes")
    return length


def decode_order(body: bytes) -> Order:
    """The order of a body; Garbled for anything else."""
    try:
        found = json.loads(body)
        return Order(
            words=tuple(map(str, found["words"])),
            folder=str(found["folder"]),
            container=str(found["container"]),
            socket=str(found["socket"]),
            environment={str(name): str(value) for name, value in found["environment"].items()},
            files={str(path): b64decode(text, validate=True) for path, text in found["files"].items()},
            folders=tuple(map(str, found["folders"])),
            links={str(name): str(value) for name, value in found["links"].items()},
            results=tuple(map(str, found["results"])),
            stdin=None if found["stdin"] is None else b64decode(found["stdin"], validate=True),
            terminal=Terminal(**found["terminal"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise Garbled(f"no order: {type(error).__name__}") from None


def encode_hello(hello: Hello) -> bytes:
    """The data of a frame HELLO."""
    return json.dumps(asdict(hello)).encode()


def decode_hello(data: bytes) -> Hello:
    """Of a frame HELLO; Garbled for anything else."""
    try:
        found = json.loads(data)
        rights = tuple(str(right) for right in found["rights"])
        return Hello(protocol=int(found["protocol"]), version=str(found["version"]), rights=rights)
    except (ValueError, LookupError, TypeError, RecursionError):
        raise Garbled("no greeting") from None


def encode_file(path: str, data: bytes) -> bytes:
    """The data of a frame FILE."""
    name = path.encode()
    return struct.pack(">I", len(name)) + name + data


def decode_file(data: bytes) -> tuple[str, bytes]:
    """Path and content of a frame FILE; Garbled for anything else."""
    try:
        (length,) = struct.unpack_from(">I", data)
        name = data[4 : 4 + length].decode()
    except (struct.error, UnicodeDecodeError):
        raise Garbled("no file") from None
    if len(data) < 4 + length:
        raise Garbled("no file")
    return name, data[4 + length :]


def frame(kind: Kind, data: bytes = b"") -> bytes:
    """A frame."""
    return _HEAD.pack(kind.value, len(data)) + data


class Frames:
    """Puts frames together out of bytes in any pieces."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Kind, bytes]]:
        """The frames that are complete now; Garbled at what is none."""
        self._kept += data
        while len(self._kept) >= _HEAD.size:
            letter, length = _HEAD.unpack_from(self._kept)
            if letter not in {kind.value for kind in Kind} or length > LARGEST_FRAME:
                raise Garbled("no frame")
            if len(self._kept) < _HEAD.size + length:
                return
            whole = bytes(self._kept[_HEAD.size : _HEAD.size + length])
            del self._kept[: _HEAD.size + length]
            yield Kind(letter), whole


def _text(data: bytes) -> str:
    return b64encode(data).decode()
