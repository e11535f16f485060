"""The corpus of found compose files: every one is read without a crash, traced exactly, and as compose reads it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from netdiag.compose.problems import ComposeError
from tests.compose.test_oracle import ask_compose, differences, load_folder
from tests.compose.tracing import CORPUS, ROOT, assert_traced, spans_in, texts_in
from tests.figures import Report as Figure

FILES = sorted(CORPUS.glob("*/**/*.y*ml"))
OURS = [file for file in sorted((ROOT / "compose").glob("**/*.y*ml")) if file.name != "expected.yml"]


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="shared corpus absent")
def test_every_value_of_the_corpus_is_traced() -> None:
    refused = 0
    for file in FILES:
        loaded = load_folder(file.parent, (file.name,), {})
        if isinstance(loaded, ComposeError):
            assert loaded.span is not None
            refused += 1
            continue
        spans = list(spans_in(loaded))
        held = _files(file.parent, *{span.path for span in spans})
        for text in texts_in(loaded):
            assert_traced(text, held)
        assert all(0 <= span.start <= span.end <= len(held[span.path]) for span in spans)
    assert refused * 20 < len(FILES)


@pytest.mark.bar("loader")
@pytest.mark.skipif(not FILES, reason="shared corpus absent")
def test_the_corpus_is_what_compose_says(compose_v2: Path, figure: Figure) -> None:
    wrong = _all_compared(compose_v2, FILES)
    unequal = {line.partition(": ")[0] for line in wrong}
    figure("compose files of the corpus as compose", f"{len(FILES) - len(unequal)} of {len(FILES)}", "files")
    assert not wrong, "\n".join(wrong)


@pytest.mark.bar("loader")
@pytest.mark.skipif(not OURS, reason="shared corpus absent")
def test_our_own_stacks_are_what_compose_says(compose_v2: Path, figure: Figure) -> None:
    wrong = _all_compared(compose_v2, OURS)
    unequal = {line.partition(": ")[0] for line in wrong}
    figure("compose files of this repository as compose", f"{len(OURS) - len(unequal)} of {len(OURS)}", "files")
    assert not wrong, "\n".join(wrong)


def _all_compared(compose: Path, files: list[Path]) -> list[str]:
    with ThreadPoolExecutor() as pool:
        return [line for lines in pool.map(lambda file: _compared(compose, file), files) for line in lines]


def _compared(compose: Path, file: Path) -> list[str]:
    verdict = ask_compose(compose, file.parent, (file.name,), {})
    loaded = load_folder(file.parent, (file.name,), {})
    where = f"{file.parent.name}/{file.name}"
    if verdict.model is None:
        accepted = not isinstance(loaded, ComposeError) and not loaded.errors
        return [f"{where}: compose refuses it, netdiag does not: {verdict.message}"] if accepted else []
    if isinstance(loaded, ComposeError):
        return [f"{where}: compose accepts it, netdiag does not: {loaded}"]
    if loaded.errors:
        return [f"{where}: compose accepts it, netdiag does not: {loaded.errors[0].message}"]
    return [f"{where}: {line}" for line in differences(loaded, verdict.model, file.parent)]


def _files(folder: Path, *paths: str) -> dict[str, bytes]:
    named = {*paths, ".env"}
    return {path: (folder / path).read_bytes() for path in named if (folder / path).is_file()}
