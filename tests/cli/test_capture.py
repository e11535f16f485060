"""The options of `netdiag capture`: what they mean, and what is refused before anything is opened."""

from pathlib import Path

import pytest
import typer

from netdiag.cli.capture import place_of, rotation_of, seconds_of, snaplen_of
from netdiag.cli.capturing import Place
from tests.cli.shell import netdiag


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("host", Place(kind="host")),
        ("brokers", Place(kind="brokers")),
        ("container:a:b", Place(kind="container", name="a:b")),
        ("netns:blue", Place(kind="netns", name="blue")),
        ("pid:17", Place(kind="pid", name="17")),
    ],
)
def test_places(word: str, place: Place) -> None:
    assert place_of(word) == place


@pytest.mark.parametrize("word", ["", "hosts", "container:", "container", "pid:0", "pid:x", "pid:99999999", "docker:x"])
def test_what_is_no_place(word: str) -> None:
    with pytest.raises(typer.BadParameter):
        place_of(word)


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("30s", 30), ("1.5min", 90), ("5m", 300), ("2h", 7200), (" 7 sec ", 7)]
)
def test_times(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "5MB", "1e3", "5 days", "9" * 20, "nan"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        seconds_of(text)


@pytest.mark.parametrize(
    ("text", "rotation"),
    [
        ("100MB", (100_000_000, None)),
        ("100M", (100_000_000, None)),
        ("64MiB", (64 * 1024 * 1024, None)),
        ("1.5 GB", (1_500_000_000, None)),
        ("10m", (None, 600)),
        ("60s", (None, 60)),
    ],
)
def test_rotation(text: str, rotation: tuple[int | None, float | None]) -> None:
    assert rotation_of(text) == rotation


@pytest.mark.parametrize("text", ["", "100", "0MB", "0.1kB", "MB", "5XB", "-5MB"])
def test_what_is_no_rotation(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        rotation_of(text)


def test_how_much_is_kept() -> None:
    assert [snaplen_of(*words) for words in ((False, False, None), (True, False, None), (False, True, None))] == [
        256,
        256,
        262144,
    ]
    assert snaplen_of(False, False, 96) == 96
    for words in ((True, True, None), (True, False, 96), (False, True, 96)):
        with pytest.raises(typer.BadParameter):
            snaplen_of(*words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "docker:x"], "is no place"),
        (["--ring", "3"], "--ring goes with --rotate"),
        (["--rotate", "100"], "neither a size nor a time"),
        (["--rotate", "1MB", "-o", "-"], "leave out --rotate"),
        (["--filter", "tcp", "--port", "1"], "--filter says it all"),
        (["--headers", "--full"], "exclude each other"),
        (["--port", "0"], "--port"),
        (["--snaplen", "8"], "--snaplen"),
    ],
)
def test_what_contradicts_itself(tmp_path: Path, words: list[str], said: str) -> None:
    done = netdiag("capture", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert not list(tmp_path.iterdir())
