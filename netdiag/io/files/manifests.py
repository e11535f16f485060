"""The files of a folder that may be Kubernetes manifests about Kafka, or about what leads to it."""

import os
from contextlib import suppress

from netdiag.errors import InputError
from netdiag.io.files import read_inside
from netdiag.patterns import regex

# Folders of thousands of files, and files that are generated, are nobody's deployment.
_MOST_FILES = 100
_LARGEST = 512 * 1024
_MOST_BYTES = 4 * 1024 * 1024
_KIND = regex(
    rb"(?m)^[ \t-]*[\"']?kind[\"']?:[ \t]*[\"']?(?:Kafka|KafkaNodePool|KafkaConnect|KafkaBridge|KafkaMirrorMaker2"
    rb"|Service|ConfigMap|StatefulSet|Deployment|DaemonSet|ReplicaSet|Pod|Job|CronJob|\w*List)[\"']?[ \t]*\r?$"
)


def files_beside(path: str) -> tuple[tuple[str, bytes], ...]:
    """Path and bytes of the other manifests in the folder of a file, as far as they may have to do with it."""
    folder = os.path.dirname(path)
    names: list[str] = []
    with suppress(OSError):
        names = sorted(name for name in os.listdir(folder or os.curdir) if name.endswith((".yaml", ".yml")))
    found: list[tuple[str, bytes]] = []
    left = _MOST_BYTES
    for name in names[:_MOST_FILES]:
        beside = os.path.join(folder, name)
        if name == os.path.basename(path):
            continue
        data = None
        with suppress(InputError):
            data = read_inside(folder, beside, limit=_LARGEST)
        if data is not None and _KIND.search(data) and len(data) <= left:
            left -= len(data)
            found.append((beside, data))
    return tuple(found)
