"""Engine data folders that already hold the images, lent to one engine at a time.

Loading half a gigabyte of layers takes longer than starting the engine, so a data folder is kept
and used again, keyed by the images' content. Engines side by side each get their own. One whose
engine could not be emptied properly is deleted by the teardown, never repaired.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

_LOADED = "images-loaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One data folder and the open lock file that keeps it ours (inherited by the warden)."""

    folder: Path
    lock: int

    @property
    def data(self) -> Path:
        """dockerd's --data-root."""
        return self.folder / "data"

    @property
    def has_images(self) -> bool:
        """Whether an earlier run has loaded the images."""
        return (self.folder / _LOADED).exists()

    def mark_loaded(self) -> None:
        """Say that the images are in."""
        (self.folder / _LOADED).touch()


def borrow_slot(cache: Path, key: str, release: str = "") -> Slot:
    """A free data folder for the images of `key`; a new one when all are lent. No release reads another's."""
    home = cache / f"engines{release and '-'}{release}"
    home.mkdir(parents=True, exist_ok=True)
    _drop_outdated(home, key)
    number = 0
    while True:
        folder = home / f"{key}.{number}"
        lock = _try_lock(folder)
        if lock is not None:
            folder.mkdir(exist_ok=True)
            return Slot(folder=folder, lock=lock)
        number += 1


def _drop_outdated(home: Path, key: str) -> None:
    """Delete the folders of earlier image sets: they are big and nobody will ask for them."""
    for folder in home.glob("*.*"):
        if folder.is_dir() and not folder.name.startswith(f"{key}."):
            lock = _try_lock(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _try_lock(folder: Path) -> int | None:
    handle = os.open(folder.parent / f".{folder.name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
