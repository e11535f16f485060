"""What a lab owns, written down before it is made: a file that `netdiag lab down` finds, whatever happened to `up`."""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from netdiag.errors import MissingRight, NetdiagError

VERSION = 1
RUN = "/run"
_FOLDER = "netdiag"
_LONGEST = 64 * 1024
_PATIENCE, _PAUSE = 20.0, 0.05
_VANISHINGS = 1000


@dataclass(slots=True, kw_only=True)
class OwnedDevice:
    """A device by the number that it was given; `marked` once it bears the lab's mark."""

    space: str
    name: str
    index: int
    marked: bool = False


@dataclass(slots=True, kw_only=True)
class State:
    """A lab: its namespaces with their inodes (None before they have one), its devices, the steps that are done.

    `mark` is a word that nobody else has: namespaces bear it at their loopback device, devices as their alias.
    """

    lab: str
    mark: str
    spaces: dict[str, int | None] = field(default_factory=dict)
    devices: list[OwnedDevice] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    finished: bool = False
    made_folder: bool = False


def new_state(lab: str) -> State:
    """The state of a lab of which nothing is there yet."""
    return State(lab=lab, mark=f"netdiag lab {lab} {secrets.token_hex(8)}")


class StateFile:
    """Where the state of one lab is kept."""

    def __init__(self, folder: Path, lab: str) -> None:
        self._folder = folder
        self.path = folder / f"lab-{lab}.json"

    def read(self) -> State | None:
        """The state, None where there is no lab; NetdiagError for what is none of ours."""
        try:
            with open(self.path, "rb") as file:
                data = file.read(_LONGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NetdiagError(os.strerror(error.errno or 0), where=str(self.path)) from error
        try:
            return _state(json.loads(data))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            hint = "look at what it names with `ip netns`, then delete it"
            raise NetdiagError("not the state of a lab", where=str(self.path), hint=hint) from error

    def write(self, state: State) -> None:
        """Put it in the place of what was there, at once or not at all."""
        fresh = self.path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, **asdict(state)}, file)
        os.replace(fresh, self.path)

    def delete(self) -> None:
        """Nothing is owned any more."""
        self.path.with_suffix(".new").unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


@contextmanager
def state_file(lab: str, environ: Mapping[str, str]) -> Iterator[StateFile]:
    """The file of a lab, which nobody else of us changes meanwhile; its folder goes when nothing is left in it."""
    folder, descriptor = _locked(lab, environ)
    try:
        yield StateFile(folder, lab)
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()
        os.close(descriptor)


def _locked(lab: str, environ: Mapping[str, str]) -> tuple[Path, int]:
    """The folder and a descriptor that locks it; another of us may remove it while we wait, then it is made anew."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        folder, descriptor = _folder(lab, environ)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink > 0:
                return folder, descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                hint = "wait for it"
                raise NetdiagError("another netdiag works on a lab here", where=str(folder), hint=hint) from None
            time.sleep(_PAUSE)
        os.close(descriptor)


def _folder(lab: str, environ: Mapping[str, str]) -> tuple[Path, int]:
    """/run/netdiag, or that of the user's session where /run is not to be written, with a descriptor of it."""
    own = environ.get("XDG_RUNTIME_DIR", "")
    found = [Path(RUN), *([Path(own)] if os.path.isabs(own) else [])]
    begun = [base / _FOLDER for base in found if (base / _FOLDER / f"lab-{lab}.json").exists()]
    for folder in (*begun, *(base / _FOLDER for base in found)):
        descriptor = _opened(folder)
        if descriptor is not None:
            return folder, descriptor
    raise MissingRight("no folder to write down what a lab owns", where=f"{RUN}/{_FOLDER}")


def _opened(folder: Path) -> int | None:
    """A descriptor of a folder, made where it is missing; None where it is not ours to write.

    Another of us may remove it at any moment: what is asked is asked of the descriptor, not of the path.
    """
    for _ in range(_VANISHINGS):
        try:
            with suppress(FileExistsError):
                os.mkdir(folder, mode=0o700)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if os.fstat(descriptor).st_uid == os.geteuid() and os.access(".", os.W_OK | os.X_OK, dir_fd=descriptor):
            return descriptor
        os.close(descriptor)
        return None
    return None


def _state(document: Any) -> State:
    if document.pop("version") != VERSION:
        raise ValueError("another version")
    devices = [OwnedDevice(**each) for each in document.pop("devices")]
    state = State(**document, devices=devices)
    well = (
        isinstance(state.mark, str)
        and state.mark
        and all(inode is None or isinstance(inode, int) for inode in state.spaces.values())
        and all(isinstance(each.index, int) and isinstance(each.name, str) for each in devices)
    )
    if not well:
        raise ValueError("values of other types")
    return state
