"""Containers that come and go between two looks, as the engine's events tell them."""

import json
import time
from datetime import UTC, datetime
from typing import Any

from netdiag.engine.events import ContainerEvent, ShortLives, parse_events, query
from netdiag.engine.helper_container import LABEL as HELPER
from tests.each import each

SECOND = 1_000_000_000
LANGUAGE, SESSION = "org.testcontainers.lang", "org.testcontainers.sessionId"


def document(action: str, identifier: str = "a", at: float = 0, **attributes: Any) -> dict[str, Any]:
    """One event as Docker writes it."""
    told = {"name": f"name-{identifier}", "image": "app:1", **attributes}
    return {
        "Type": "container",
        "Action": action,
        "Actor": {"ID": identifier, "Attributes": told},
        "time": int(at),
        "timeNano": int(at * SECOND),
    }


def events(*documents: object) -> tuple[ContainerEvent, ...]:
    return parse_events("\n".join(json.dumps(one) for one in documents).encode())


def names(lives: ShortLives, *documents: object, seen: tuple[str, ...] = ()) -> list[str]:
    return [life.start.id for life in lives.take(events(*documents), seen)]


def test_a_container_that_nobody_has_seen() -> None:
    (life,) = ShortLives().take(events(document("start", at=2), document("die", at=4.5, exitCode="137")), ())
    assert (life.start.name, life.start.image, life.seconds, life.exit_code) == ("name-a", "app:1", 2.5, 137)


def test_podman_writes_it_otherwise() -> None:
    died = document("died", at=3, containerExitCode="1") | {"timeNano": 0}
    (life,) = ShortLives().take(events(document("start", at=2) | {"timeNano": 0}, died), ())
    assert (life.seconds, life.exit_code) == (1, 1)


def test_one_that_starts_before_a_look_and_ends_after_it_unseen() -> None:
    lives = ShortLives()
    assert names(lives, document("start")) == []
    assert names(lives) == []
    assert names(lives, document("die")) == ["a"]
    assert names(lives, document("die")) == []


def test_one_that_a_look_has_seen_is_not_told() -> None:
    lives = ShortLives()
    # seen although the events of this look end before it was started
    assert names(lives, seen=("a",)) == []
    assert names(lives, document("start"), document("die")) == []
    assert names(lives, document("start", "b"), seen=("b",)) == []
    assert names(lives, document("die", "b")) == []
    # one that was there before anybody looked
    assert names(lives, document("die", "c")) == []
    # it is up again
    assert names(lives, document("start", "d"), document("die", "d"), document("start", "d"), seen=("d",)) == []


def test_one_that_starts_again_and_again_is_told_once() -> None:
    lives = ShortLives()
    loop = (document("start"), document("die"))
    assert [names(lives, *loop, *loop) for _ in range(3)] == [["a"], [], []]


def test_the_reaper_and_helpers_of_netdiag_are_not_told() -> None:
    lives = ShortLives()
    reaper: dict[str, Any] = {"image": "testcontainers/ryuk:0.12.0", "org.testcontainers": "true"}
    helper: dict[str, Any] = {HELPER: "x"}
    for labels in (reaper, helper):
        assert names(lives, document("start", **labels), document("die", **labels)) == []


def test_the_labels_that_say_whose_it_was() -> None:
    labels: dict[str, Any] = {
        "com.docker.compose.project": "shop",
        LANGUAGE: "java",
        SESSION: "1b2c",
        "other": "x" * 1000,
    }
    (start,) = events(document("start", **labels))
    assert start.project == "shop"
    assert start.labels[SESSION] == "1b2c"
    assert "x" not in start.labels


@each(
    "line",
    [
        "",
        "7",
        "[]",
        "{",
        "[" * 100_000,
        '{"Action": "start"}',
        '{"Action": "start", "Actor": {"ID": 7}}',
        '{"Action": "exec_start: sh", "Actor": {"ID": "a"}}',
        '{"Action": "start", "Actor": {"ID": ""}}',
        "\xff",
    ],
)
def test_lines_that_are_none(line: str) -> None:
    good = json.dumps(document("start"))
    assert [one.id for one in parse_events(f"{line}\n{good}\n{good[:-9]}".encode("latin-1"))] == ["a"]


def test_hostile_values() -> None:
    odd = document("start", "a\n\x1b[2Jb", name="x\x1b]0;t\x07y\r\n\x85z", image="i" * 5000)
    odd["timeNano"] = 10**4000
    (start,) = events(odd)
    assert (start.id, start.name) == ("a b", "xy z")
    assert len(start.image) == 1000
    (life,) = ShortLives().take(events(odd, odd | {"Action": "die", "timeNano": -(10**4000)}), ())
    assert life.seconds == 0
    (life,) = ShortLives().take(events(odd | {"timeNano": -(10**4000)}, odd | {"Action": "die"}), ())
    assert life.seconds >= 0


def test_memory_is_bounded() -> None:
    lives = ShortLives()
    for turn in range(5):
        begun = [document("start", f"{turn}-{n}") for n in range(1000)]
        assert names(lives, *begun) == []
    told = names(lives, *(document("die", f"{turn}-{n}") for turn in range(5) for n in range(1000)))
    assert len(told) == 1000
    assert told[0] == "4-0"


def test_a_flood_is_read_in_time() -> None:
    line = json.dumps(document("start")).encode()
    begin = time.monotonic()
    assert len(parse_events(b"\n".join([line] * 50_000))) == 10_000
    assert parse_events(b"\n" * 4_000_000) == ()
    assert time.monotonic() - begin < 5


def test_the_question() -> None:
    asked = query(datetime.fromtimestamp(10, UTC), datetime.fromtimestamp(12.25, UTC))
    assert (asked["since"], asked["until"]) == ("10.000000", "12.250000")
    assert json.loads(asked["filters"])["type"] == ["container"]
