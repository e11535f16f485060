"""The helper container of `--via container`: what the engine is asked to make, and how it is known again.

It has the docker host's network and processes, a read-only root, no more rights than a look needs, and memory for the
files that go along; nothing of it is on the docker host, and nothing of an order is in what `docker inspect` shows.
"""

from collections.abc import Mapping, Sequence
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
