"""Tar layers and the `docker load` archive made of them, without an engine and reproducibly.

The format is that of `docker save`, which every engine since 1.10 reads: a manifest, one JSON
configuration per image, one tar per layer; images share layers by naming the same file.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_EPOCH = 1_700_000_000
_CREATED = "2023-11-14T22:13:20Z"
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
APPUSER = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing of a layer: a file (`source` or `text`) or, with neither, an empty folder."""

    path: str
    source: Path | None = None
    text: str | None = None
    mode: int = 0o644
    uid: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One image: its tags, the layer files from the bottom up, its run-time configuration."""

    tags: tuple[str, ...]
    layers: tuple[Path, ...]
    command: tuple[str, ...]
    user: str = ""
    environment: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


def write_layer(target: Path, items: Iterable[Item]) -> None:
    """A layer with fixed times: class data archives compare the jars' times with the recorded."""
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as tar:
        for item in items:
            info = tarfile.TarInfo(item.path.lstrip("/"))
            info.mtime = _EPOCH
            info.uid = info.gid = item.uid
            info.mode = item.mode
            data = item.source.read_bytes() if item.source else (item.text or "").encode()
            if item.source is None and item.text is None:
                info.type = tarfile.DIRTYPE
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def write_archive(target: IO[bytes], images: Sequence[Image]) -> None:
    """Everything `docker load` needs for `images`, as a stream."""
    digests: dict[Path, str] = {}
    manifest = []
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for image in images:
            for layer in image.layers:
                if layer not in digests:
                    digests[layer] = _sha256(layer)
                    tar.add(layer, arcname=f"{digests[layer]}/layer.tar", recursive=False)
            names = [digests[layer] for layer in image.layers]
            config = json.dumps(_config(image, names), sort_keys=True).encode()
            config_name = hashlib.sha256(config).hexdigest() + ".json"
            _add_bytes(tar, config_name, config)
            manifest.append(
                {
                    "Config": config_name,
                    "RepoTags": list(image.tags),
                    "Layers": [f"{name}/layer.tar" for name in names],
                }
            )
        _add_bytes(tar, "manifest.json", json.dumps(manifest).encode())


def _config(image: Image, diff_ids: Sequence[str]) -> dict[str, object]:
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": _CREATED,
        "config": {
            "Cmd": list(image.command),
            "User": image.user,
            "Env": [_PATH, *image.environment],
            "ExposedPorts": {port: {} for port in image.exposed},
            "Volumes": {path: {} for path in image.volumes} or None,
            "Labels": dict(image.labels),
            "WorkingDir": "/",
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{name}" for name in diff_ids]},
        "history": [{"created": _CREATED} for _ in diff_ids],
    }


def _add_bytes(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.mtime = _EPOCH
    tar.addfile(info, io.BytesIO(data))


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
