"""The list of files: which ones of the snapshots are Compose and CI files with Kafka, and which of them are taken."""

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

from tools.survey.snapshots import Entry, Snapshot, snapshots

SEED = "netdiag survey 1"
MOST_BYTES = 1 << 20
MOST_OF_A_REPOSITORY = 8
COMPOSE, GITHUB, GITLAB = "compose", "github", "gitlab"

_IMAGE = re.compile(
    rb"^\s*(?:-\s+)?[\"']?image[\"']?\s*:\s*.*(?:kafka|redpanda|confluent-local|confluentinc/cp-server)", re.I | re.M
)
_RUN = re.compile(rb"(?:confluentinc/cp-kafka|bitnami/kafka|apache/kafka|redpandadata/redpanda|wurstmeister/kafka)")
_SETTING = re.compile(rb"KAFKA_(?:CFG_)?(?:ADVERTISED|LISTENERS|ZOOKEEPER_CONNECT|PROCESS_ROLES)", re.I)
_SERVICES = re.compile(rb"^services\s*:", re.M)
_FIRST_VERSION = re.compile(rb"^[\w-]+\s*:\s*\n\s+(?:image|build)\s*:", re.M)
_COMPOSE_NAME = re.compile(r"(?:^|/)(?:docker-)?compose[^/]*\.ya?ml$", re.I)
_YAML = re.compile(r"\.ya?ml$", re.I)
# Folders that tools fill with the files of other projects.
_COPIED = re.compile(r"(?:^|/)(?:node_modules|vendor)/")
_WORKFLOW = re.compile(r"(?:^|/)\.github/workflows/[^/]+$")
_PIPELINE = re.compile(r"(?:^|/)\.gitlab-ci\.ya?ml$")


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file of the survey."""

    repository: str
    commit: str
    path: str
    sha256: str
    kind: str


@dataclass(slots=True)
class Sampling:
    """How the list came to be."""

    repositories: int = 0
    without: int = 0
    candidates: int = 0
    known: int = 0
    duplicates: int = 0
    beyond: int = 0
    taken: int = 0


def kind(path: str, data: bytes) -> str | None:
    """Which kind of file with Kafka this is, None for any other."""
    if not _YAML.search(path) or _COPIED.search(path):
        return None
    if _WORKFLOW.search(path):
        return GITHUB if _IMAGE.search(data) or _RUN.search(data) else None
    if _PIPELINE.search(path):
        return GITLAB if _IMAGE.search(data) or _RUN.search(data) else None
    composed = _SERVICES.search(data) or (_COMPOSE_NAME.search(path) and _FIRST_VERSION.search(data))
    return COMPOSE if composed and (_IMAGE.search(data) or _SETTING.search(data)) else None


def candidates(one: Snapshot) -> Iterator[File]:
    """The files with Kafka of one snapshot."""
    commit = one.head()
    found = (entry for entry in one.entries(commit) if _may_be_listed(entry))
    for entry, data in one.contents(found):
        if what := kind(entry.path, data):
            digest = hashlib.sha256(data).hexdigest()
            yield File(repository=one.repository, commit=commit, path=entry.path, sha256=digest, kind=what)


def _may_be_listed(entry: Entry) -> bool:
    return entry.size <= MOST_BYTES and not entry.is_link and _YAML.search(entry.path) is not None


def choose(folder: Path, known: Iterable[tuple[str, str]] = ()) -> tuple[list[File], Sampling]:
    """The list for a folder of snapshots: of each repository the first few in an order that only chance decides.

    Of files with the same bytes one is kept. `known` are the repositories and paths of files that netdiag was
    developed with: they, and copies of them in the snapshots, are left out.
    """
    counts = Sampling()
    left_out = set(known)
    found: list[File] = []
    for one in snapshots(folder):
        files = list(candidates(one))
        counts.repositories += 1
        counts.without += not files
        found += files
    counts.candidates = len(found)
    known_bytes = {file.sha256 for file in found if (file.repository, file.path) in left_out}
    fresh = [file for file in found if file.sha256 not in known_bytes]
    counts.known = len(found) - len(fresh)
    taken: list[File] = []
    seen: set[str] = set()
    of_repository: dict[str, int] = {}
    for file in sorted(fresh, key=_chance):
        if file.sha256 in seen:
            counts.duplicates += 1
            continue
        seen.add(file.sha256)
        if of_repository.get(file.repository, 0) >= MOST_OF_A_REPOSITORY:
            counts.beyond += 1
            continue
        of_repository[file.repository] = of_repository.get(file.repository, 0) + 1
        taken.append(file)
    counts.taken = len(taken)
    return sorted(taken, key=lambda file: (file.repository.lower(), file.path)), counts


def read_list(path: Path) -> list[File]:
    """The list as it is kept."""
    return [File(**row) for row in read_rows(path)]


def write_list(path: Path, files: Iterable[File]) -> None:
    """Keep the list."""
    write_rows(path, [field.name for field in fields(File)], (astuple(file) for file in files))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV file with a header."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def write_rows(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A CSV file with a header, through a temporary name."""
    new = path.with_name(f".{path.name}.new")
    with new.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    new.replace(path)


def write_sampling(path: Path, counts: Sampling) -> None:
    """Keep how the list came to be."""
    path.write_text(json.dumps(asdict(counts), indent=2) + "\n", encoding="utf-8")


def _chance(file: File) -> str:
    return hashlib.sha256(f"{SEED}\0{file.repository}\0{file.path}".encode()).hexdigest()
