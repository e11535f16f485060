"""Where compose exists: row by row, templates and dotenv files mean what compose says, and the same are refused."""

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.interpolate import interpolate
from netdiag.compose.positions import Source, literal
from netdiag.compose.problems import ComposeError
from tests.compose.oracle import ask_compose, surroundings
from tests.compose.rows import DOTENV, TEMPLATES, VARIABLES
from tests.figures import Report as Figure

Answer = Mapping[str, str | None] | None


@pytest.mark.bar("loader")
def test_templates(compose_v2: Path, tmp_path: Path, figure: Figure) -> None:
    rows = [row for topic in TEMPLATES.values() for row in topic]
    environ = {**surroundings(tmp_path), **VARIABLES}
    ours: list[Answer] = []
    for row in rows:
        text, faults = interpolate(literal(row), environ.get)
        ours.append(None if faults else {"K": text.value})
    wrong = _wrong(rows, ours, [f"environment: {{K: {json.dumps(row)}}}" for row in rows], compose_v2, tmp_path)
    figure("interpolation rows as compose", f"{len(rows) - len(wrong)} of {len(rows)}", "rows")
    assert wrong == {}


@pytest.mark.bar("loader")
def test_dotenv_files(compose_v2: Path, tmp_path: Path, figure: Figure) -> None:
    rows = [row for topic in DOTENV.values() for row in topic]
    environ = {**surroundings(tmp_path), **VARIABLES}
    ours: list[Answer] = []
    for number, row in enumerate(rows):
        (tmp_path / f"{number}.env").write_bytes(row.encode())
        try:
            ours.append({name: text.value for name, text in load_dotenv(Source("e", row), environ).items()})
        except ComposeError:
            ours.append(None)
    fields = [f"env_file: {tmp_path}/{number}.env" for number in range(len(rows))]
    wrong = _wrong(rows, ours, fields, compose_v2, tmp_path)
    figure("dotenv rows as compose", f"{len(rows) - len(wrong)} of {len(rows)}", "rows")
    assert wrong == {}


def _wrong(
    rows: list[str], ours: list[Answer], fields: list[str], compose: Path, folder: Path
) -> dict[str, tuple[Answer, Answer]]:
    """The rows that compose answers differently: its answer and ours."""
    accepted = [number for number, answer in enumerate(ours) if answer is not None]
    alone = [number for number, answer in enumerate(ours) if answer is None]
    theirs = _answers(accepted, fields, compose, folder / "all")
    if theirs is None:
        # One of them is refused: each for itself tells which.
        alone, theirs = list(range(len(rows))), {}
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda n: (n, _answers([n], fields, compose, folder / str(n))), alone)
        single = {number: None if answer is None else answer[number] for number, answer in found}
    return {rows[n]: (answer, ours[n]) for n, answer in {**theirs, **single}.items() if answer != ours[n]}


def _answers(
    numbers: Iterable[int], fields: list[str], compose: Path, folder: Path
) -> dict[int, Mapping[str, str | None]] | None:
    """What compose says of a project with a service for each of these rows; None when it refuses."""
    folder.mkdir()
    services = "".join(f"  s{number}: {{image: x, {fields[number]}}}\n" for number in numbers)
    (folder / "compose.yaml").write_text(f"services:\n{services}", encoding="utf-8")
    verdict = ask_compose(compose, folder, ("compose.yaml",), VARIABLES)
    if verdict.model is None:
        return None
    held = {name: service.get("environment") or {} for name, service in verdict.model["services"].items()}
    # `config` doubles the dollars, so that its output can be read again; a variable without a name reaches nobody.
    return {int(name[1:]): {k: v and v.replace("$$", "$") for k, v in env.items() if k} for name, env in held.items()}
