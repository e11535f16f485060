"""A figure that a test reports reaches the reader and the file of `make bars`."""

import json
from pathlib import Path

import pytest


@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["one process", "three processes"])
def test_a_figure_is_printed_and_recorded(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, processes: tuple[str, ...]
) -> None:
    notes = tmp_path / "figures.jsonl"
    monkeypatch.setenv("NETDIAG_FIGURES", str(notes))
    pytester.makepyfile(
        "def test_one(figure):\n    figure('cells compared', 132)\n    figure('live check', 3.14159, 's')\n"
    )
    done = pytester.runpytest("-p", "tests.figures", *processes)
    done.stdout.fnmatch_lines(["*figures*", "cells compared: 132", "live check: 3.14 s"])
    first, second = (json.loads(line) for line in notes.read_text().splitlines())
    assert (first["name"], first["value"]) == ("cells compared", 132)
    assert (second["value"], second["unit"]) == (3.14159, "s")
    assert first["test"].endswith("::test_one")
