"""What is promised of every project: a report or one clear line, soon, valid, harmless, without secrets."""

import io
import os
import re
import sys
import time
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.main import get_command

from netdiag.cli.main import app
from netdiag.cli.outputs import Format
from tests.fuzz.projects import SECRET, Project, hides
from tests.render.schemas import SCHEMAS

FILES = tuple(form.value for form in Format if form is not Format.TEXT)
# Of processor time, for a check and for a repair with its checks; a project has at most 7 files of 64 KiB.
MOST_SECONDS = 2.0
MOST_SECONDS_REPAIRING = 8.0
_RULE = re.compile(r" (?:error|warning|note) ([a-z0-9-]+) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of the command line."""

    status: int
    out: str
    err: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a project did: complaints, how long the check took, and what it was told, to know what is new."""

    complaints: tuple[str, ...]
    seconds: float
    told: frozenset[str]


def judged(files: Project, folder: Path, seen: Collection[frozenset[str]] = ()) -> Verdict:
    """Write the project into an empty folder, check it, print it in every format, repair it, check it again.

    What told no more than another in `seen` is not held to the schemas: they take longer than all the rest.
    """
    for path, data in files.items():
        (folder / path).write_bytes(data)
    with chdir(folder):
        known = ["--baseline", "baseline.json"] if "baseline.json" in files else []
        outputs = [word for form in FILES for word in ("--format", form, "--output", f"out.{form}")]
        checked = run("check-listeners", "--format", "text", *outputs, *known, "compose.yml")
        documents = {form: _text(f"out.{form}") for form in FILES if Path(f"out.{form}").exists()}
        repaired = run("check-listeners", "--fix", "--unsafe-fixes", "compose.yml")
    secret = hides(files)
    found = [*_of_run(checked, MOST_SECONDS, secret=secret), *_of_run(repaired, MOST_SECONDS_REPAIRING, secret=secret)]
    told = frozenset(_RULE.findall(documents.get("concise", ""))) | {f"status {checked.status}"}
    found += [text for form, document in documents.items() for text in _of_document(form, document, secret=secret)]
    if told not in seen:
        found += [text for form, document in documents.items() for text in _against_schema(form, document)]
    if checked.status in (0, 1, 3, 4) and len(documents) < len(FILES) and "netdiag.toml" not in checked.err:
        found.append(f"status {checked.status}, but not every document was written: {checked.err[:200]}")
    return Verdict(complaints=tuple(dict.fromkeys(found)), seconds=checked.seconds, told=told)


def run(*words: str) -> Ran:
    """The command line, in this process, with nothing of its environment."""
    with _streams() as (out, err), patch.dict(os.environ, {"PATH": "", "TERM": "xterm"}, clear=True):
        begin = time.process_time()
        try:
            returned: Any = get_command(app).main(args=list(words), prog_name="netdiag", standalone_mode=False)
            status = returned if isinstance(returned, int) else 0
        except Exception as error:  # noqa: BLE001 (that nothing gets out is what is looked for)
            status = 2
            if not hasattr(error, "format_message"):
                status = -1
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
        seconds = time.process_time() - begin
        sys.stdout.flush()
        sys.stderr.flush()
        return Ran(
            status=status,
            out=out.getvalue().decode("utf-8", "surrogateescape"),
            err=err.getvalue().decode("utf-8", "surrogateescape"),
            seconds=seconds,
        )


def _of_run(ran: Ran, most: float, *, secret: bool) -> Iterator[str]:
    text = ran.out + ran.err
    if ran.status == -1 or "internal error" in text or "Traceback" in text:
        at = max(text.find("internal error"), text.find("Traceback"), 0)
        yield f"a defect: {text[at : at + 300]}"
    if ran.seconds > most:
        yield f"took {ran.seconds:.1f} s"
    yield from _harmful(text, "text", secret=secret)


def _of_document(form: str, text: str, *, secret: bool) -> Iterator[str]:
    if "internal error" in text:
        yield f"{form}: a defect"
    yield from _harmful(text, form, secret=secret)


def _against_schema(form: str, text: str) -> Iterator[str]:
    if form in SCHEMAS:
        try:
            yield from (f"{form}: {complaint}" for complaint in SCHEMAS[form](text))
        except (ValueError, SyntaxError) as error:
            yield f"{form}: no document: {error}"


def _harmful(text: str, form: str, *, secret: bool) -> Iterator[str]:
    for character in set(text):
        if character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            yield f"{form}: holds {character!r}"
    if secret and SECRET in text:
        at = text.index(SECRET)
        yield f"{form}: shows a secret: {text[max(0, at - 60) : at + 30]!r}"


def _text(path: str) -> str:
    return Path(path).read_bytes().decode("utf-8", "surrogateescape")


@contextmanager
def _streams() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = io.TextIOWrapper(out, encoding="utf-8"), io.TextIOWrapper(err, encoding="utf-8")
    try:
        yield out, err
    finally:
        # A stream that is collected closes what it writes to.
        sys.stdout.detach()
        sys.stderr.detach()
        sys.stdout, sys.stderr = before


def shown(files: Mapping[str, bytes]) -> str:
    """The files as they are, for a report."""
    return "\n".join(f"== {path}\n{data.decode('utf-8', 'backslashreplace')[:4000]!s}" for path, data in files.items())
