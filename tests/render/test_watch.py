"""What changes from check to check: for better or worse, once, folded for people, a line each for programs."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

import jsonschema
import pytest

from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.model.verdict import Answered, Cell, Contact, Failed, Reason, Unknown, Verdict
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh
from netdiag.engine.events import ContainerEvent, ShortLife
from netdiag.render.matrix.watch import (
    Change,
    Kind,
    Turn,
    WatchState,
    change_line,
    change_lines,
    changes_between,
    watch_screen,
    with_last_known,
)
from netdiag.render.report import CameAndWent, Input, Matrix, Problem, Report
from netdiag.render.screen import Line, Screen, line_width, paint
from tests.each import each
from tests.render.literals import (
    CLIENT,
    HOST,
    OK,
    PARTIAL,
    REFUSED,
    UNKNOWN,
    UNRESOLVED,
    address,
    answered,
    failed,
    inside,
)
from tests.render.schemas import strict_schema

SCHEMA = strict_schema("check-listeners-watch.v1.json")
ENGINE = "docker engine"
KAFKA = inside("kafka")


def seen(
    cells: Mapping[tuple[Vantage, str], Verdict | None], *, down: Mapping[str, str] | None = None, name: str = ENGINE
) -> Report:
    """A report on one input with these observed cells."""
    places = tuple(dict.fromkeys(vantage for vantage, _ in cells))
    matrix = Matrix(
        input=name,
        vantages=places,
        cells=tuple(
            Cell(vantage=vantage.label, bootstrap=address(where), observed=verdict)
            for (vantage, where), verdict in cells.items()
        ),
        not_running=down or {},
    )
    return Report(inputs=(Input(name=name, kind="engine", brokers=("kafka",)),), matrices=(matrix,))


def lost(message: str = "no engine answers there") -> Report:
    """A report that says no more than that."""
    return Report(inputs=(Input(name=ENGINE, kind="engine", error=Problem(message=message)),))


def one(before: Verdict | None, after: Verdict | None) -> tuple[Change, ...]:
    return changes_between(seen({(HOST, "kafka:9092"): before}), seen({(HOST, "kafka:9092"): after}))


@pytest.mark.parametrize(
    ("before", "after", "turn"),
    [
        (OK, REFUSED, Turn.BROKE),
        (OK, PARTIAL, Turn.BROKE),
        (PARTIAL, REFUSED, Turn.BROKE),
        (REFUSED, OK, Turn.BACK),
        (REFUSED, PARTIAL, Turn.BACK),
        (REFUSED, UNRESOLVED, Turn.CHANGED),
        (OK, UNKNOWN, Turn.CHANGED),
        (UNKNOWN, OK, Turn.CHANGED),
        (OK, None, Turn.CHANGED),
    ],
)
def test_a_cell_goes_one_way(before: Verdict, after: Verdict | None, turn: Turn) -> None:
    (change,) = one(before, after)
    assert (change.kind, change.turn) == (Kind.CELL, turn)
    assert (change.before, change.after) == (str(before), "not observed" if after is None else str(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (OK, OK),
        (failed("timeout", "10.0.0.1:9092 did not answer in 3.5 s"), failed("timeout", "did not answer in 3.6 s")),
        (None, None),
    ],
)
def test_other_words_for_the_same_are_no_change(before: Verdict | None, after: Verdict | None) -> None:
    assert one(before, after) == ()


def test_another_broker_missing_is_a_change_though_the_count_stays() -> None:
    second = answered("1 localhost:9091 refused", "2 localhost:9092 ok")
    (change,) = one(PARTIAL, second)
    assert change.before == change.after == "partial 1/2"
    assert "localhost:9091" in change.reason


def test_the_first_look_gives_every_cell_and_what_does_not_run() -> None:
    found = changes_between(
        None, seen({(HOST, "kafka:9092"): OK, (CLIENT, "kafka:9092"): REFUSED}, down={"spare": "exit 1"})
    )
    assert [(c.kind, c.turn, c.subject, c.before, c.after) for c in found] == [
        (Kind.BROKER, Turn.NEW, "spare", None, "not running"),
        (Kind.CELL, Turn.NEW, "docker host", None, "ok"),
        (Kind.CELL, Turn.NEW, "container on kafka", None, "bootstrap: refused"),
    ]


def test_containers_come_and_go() -> None:
    before = seen({(HOST, "kafka:9092"): OK, (KAFKA, "kafka:9092"): OK})
    after = seen({(HOST, "kafka:9092"): REFUSED}, down={"kafka": "not running, exit code 137"})
    assert [(c.turn, c.subject, c.before, c.after) for c in changes_between(before, after)] == [
        (Turn.BROKE, "kafka", "running", "not running"),
        (Turn.BROKE, "docker host", "ok", "bootstrap: refused"),
        (Turn.GONE, "inside kafka", "ok", None),
    ]
    assert [(c.turn, c.subject, c.before, c.after) for c in changes_between(after, before)] == [
        (Turn.BACK, "kafka", "not running", "running"),
        (Turn.BACK, "docker host", "bootstrap: refused", "ok"),
        (Turn.NEW, "inside kafka", None, "ok"),
    ]


def test_an_engine_that_goes_away_is_one_change_and_what_was_known_stays() -> None:
    before = seen({(HOST, "kafka:9092"): OK})
    (gone,) = changes_between(before, lost())
    assert (gone.kind, gone.turn, gone.reason) == (Kind.INPUT, Turn.BROKE, "no engine answers there")
    meanwhile = with_last_known(before, lost())
    assert meanwhile.matrices == before.matrices
    assert meanwhile.inputs[0].error is not None
    assert changes_between(meanwhile, with_last_known(meanwhile, lost())) == ()
    (other,) = changes_between(meanwhile, lost("permission denied"))
    assert (other.turn, other.reason) == (Turn.CHANGED, "permission denied")
    back = changes_between(meanwhile, seen({(HOST, "kafka:9092"): REFUSED}))
    assert [(c.kind, c.turn) for c in back] == [(Kind.INPUT, Turn.BACK), (Kind.CELL, Turn.BROKE)]


def test_an_engine_that_was_never_there_is_told_and_then_everything_is_new() -> None:
    (gone,) = changes_between(None, lost())
    assert (gone.turn, gone.before, gone.after) == (Turn.NEW, None, "not checked")
    found = changes_between(lost(), seen({(HOST, "kafka:9092"): OK}))
    assert [(c.kind, c.turn) for c in found] == [(Kind.INPUT, Turn.BACK), (Kind.CELL, Turn.NEW)]


def test_a_line_of_json_is_valid_and_plain() -> None:
    hostile = failed("closed", "\x1b]0;x\x07\u202e\ud800 password=hunter2 " + "x" * 300_000)
    before = seen({(HOST, "kafka:9092"): OK})
    after = seen({(HOST, "kafka:9092"): hostile}, down={"kafka": "exit 1"})
    for change in (*changes_between(before, after), *changes_between(None, lost())):
        line = change_line(change, datetime.now().astimezone().isoformat())
        assert line.endswith("\n")
        assert line[:-1].isascii()
        assert line[:-1].isprintable()
        assert len(line) < 4000
        assert "hunter2" not in line
        jsonschema.validate(json.loads(line), SCHEMA)


def drawn(before: Report, after: Report, width: int = 100) -> list[str]:
    screen = Screen(width=width)
    return paint(change_lines(changes_between(before, after), screen, "12:34:56"), screen).splitlines()


def test_people_read_what_behaves_alike_in_one_line() -> None:
    places = [inside(f"broker-{n}") for n in range(1, 4)]
    where = [f"broker-{n}:9092" for n in range(1, 4)]
    before = seen({(place, to): OK for place in places for to in where})
    after = seen({(place, to): REFUSED for place in places for to in where})
    assert drawn(before, after) == [
        "12:34:56 broke   inside broker-1..3 → broker-{1..3}:9092: ok → bootstrap: refused",
        "                 refused, nothing listens there",
    ]
    assert drawn(after, before) == ["12:34:56 back    inside broker-1..3 → broker-{1..3}:9092: bootstrap: refused → ok"]


def test_many_unlike_names_are_counted() -> None:
    places = [inside(name) for name in ("a", "b", "c", "d", "e", "f")]
    where = [f"{name}:9092" for name in ("one", "two", "three", "four", "five", "six")]
    before = seen({(place, to): OK for place in places for to in where})
    after = seen({(place, to): REFUSED for place in places for to in where})
    first, *_ = drawn(before, after, width=140)
    assert first == (
        "12:34:56 broke   inside a, inside b, inside c and 3 more → one:9092, two:9092, three:9092 and 3 more: "
        "ok → bootstrap: refused"
    )


def passed(*lives: ShortLife) -> Report:
    return Report(came_and_went=tuple(CameAndWent(input=ENGINE, life=life) for life in lives))


def life(
    name: str = "eager_euler",
    *,
    seconds: float = 3.21,
    exit_code: int | None = 137,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> ShortLife:
    start = ContainerEvent(
        id="1f" * 32, name=name, image="apache/kafka:3.9.1", starts=True, time=0, exit_code=None, labels=labels
    )
    return ShortLife(start=start, seconds=seconds, exit_code=exit_code)


def test_a_container_that_came_and_went() -> None:
    of_java = {
        "org.testcontainers": "true",
        "org.testcontainers.lang": "java",
        "org.testcontainers.sessionId": "1" * 32,
    }
    report = passed(life(labels=of_java), life("", seconds=75.2, exit_code=None))
    memory = WatchState()
    memory.take(Report())
    assert [(c.kind, c.turn) for c in memory.take(report)] == [(Kind.CONTAINER, Turn.GONE)] * 2
    assert memory.take(Report()) == ()
    assert drawn(Report(), report, width=120) == [
        "12:34:56 gone    eager_euler: came and went",
        "                 image apache/kafka:3.9.1 ran for 3.2 s, exit code 137 (Testcontainers for Java, session "
        "11111111)",
        "         gone    1f1f1f1f1f1f: came and went",
        "                 image apache/kafka:3.9.1 ran for 75 s",
    ]
    line = json.loads(change_line(changes_between(Report(), report)[0], "2026-01-01T00:00:00+00:00"))
    jsonschema.validate(line, SCHEMA)
    assert (line["kind"], line["container"], line["broker"], line["before"]) == ("container", "eager_euler", None, None)


def test_of_many_containers_that_came_and_went_the_rest_is_counted() -> None:
    changes = changes_between(Report(), passed(*(life(f"c{n}") for n in range(120))))
    assert [c.subject for c in changes[-2:]] == ["c49", "70 more containers"]
    assert paint(change_lines(changes, Screen(), "12:34:56", full=True), Screen()).endswith(
        "gone    70 more containers: came and went\n"
    )


def test_nothing_foreign_gets_to_the_terminal() -> None:
    name = "evil\x1b[2J\n\u202e"
    before = seen({(inside(name), "kafka:9092"): OK}, name=name)
    after = seen(
        {(inside(name), "kafka:9092"): failed("closed", "\x1b]0;owned\x07")}, down={name: "\x1b[31m"}, name=name
    )
    lines = [*drawn(before, after), *drawn(Report(), passed(life(name)))]
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 200


def test_a_look_without_time_is_no_news_unless_it_goes_on() -> None:
    memory = WatchState()
    looks = [OK, UNKNOWN, UNKNOWN, OK, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, OK]
    told = [[c.after for c in memory.take(seen({(HOST, "kafka:9092"): verdict}))] for verdict in looks]
    assert told == [["ok"], [], [], [], [], [], ["unknown"], [], ["ok"]]


def test_what_was_known_of_an_engine_outlives_it() -> None:
    memory = WatchState()
    looks = [seen({(HOST, "kafka:9092"): OK}), lost(), lost(), seen({(HOST, "kafka:9092"): OK})]
    told = [[(c.kind, c.turn) for c in memory.take(look)] for look in looks]
    assert told == [[(Kind.CELL, Turn.NEW)], [(Kind.INPUT, Turn.BROKE)], [], [(Kind.INPUT, Turn.BACK)]]


def test_the_worst_comes_first_and_the_rest_is_counted() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    places = [inside(letter) for letter in letters]
    before = seen({(place, f"{place.member}:{n}"): OK for n, place in enumerate(places, 1)} | {(HOST, "x:1"): REFUSED})
    after = seen({(place, f"{place.member}:{n}"): REFUSED for n, place in enumerate(places, 1)} | {(HOST, "x:1"): OK})
    short = drawn(before, after)
    assert sum(" broke " in line for line in short) == 20
    assert short[-1] == "         and 7 more changes"
    told = paint(change_lines(changes_between(before, after), Screen(), "12:34:56", full=True), Screen())
    assert told.count(" broke ") == 26
    assert told.splitlines()[-1] == "         back    docker host → x:1: bootstrap: refused → ok"


REACHED = Answered(node_id=2, cluster_id="c")
CUT = Failed(reason=Reason.TIMEOUT, because="10.0.0.2:9092 did not answer in 3.5 s")


def meshed(contact: Contact | None) -> Report:
    """A report whose mesh has one edge."""
    edge = Edge(
        kind=EdgeKind.INTER_BROKER,
        source="one",
        target="two",
        address=address("two:9092"),
        observed=contact,
        node_id=2,
    )
    report = seen({(HOST, "kafka:9092"): OK})
    return replace(report, matrices=(replace(report.matrices[0], mesh=Mesh(edges=(edge,))),))


def test_an_edge_of_the_mesh_breaks_and_comes_back() -> None:
    assert drawn(meshed(REACHED), meshed(CUT)) == [
        "12:34:56 broke   one → two (inter-broker, two:9092): ok → timeout",
        "                 10.0.0.2:9092 did not answer in 3.5 s",
    ]
    assert drawn(meshed(CUT), meshed(REACHED)) == ["12:34:56 back    one → two (inter-broker, two:9092): timeout → ok"]
    assert changes_between(meshed(REACHED), meshed(Unknown(because="no time"))) == ()
    assert changes_between(meshed(CUT), meshed(replace(CUT, because="did not answer in 3.6 s"))) == ()
    (gone,) = changes_between(meshed(REACHED), seen({(HOST, "kafka:9092"): OK}))
    assert (gone.kind, gone.turn, gone.before, gone.after) == (Kind.EDGE, Turn.GONE, "ok", None)
    line = json.loads(change_line(changes_between(meshed(REACHED), meshed(CUT))[0], "2026-01-01T00:00:00+00:00"))
    jsonschema.validate(line, SCHEMA)
    assert (line["vantage"], line["edge"], line["broker"], line["bootstrap"]) == (
        "one",
        "inter-broker",
        "two",
        "two:9092",
    )


def test_an_edge_that_cannot_be_told_is_what_it_was() -> None:
    memory = WatchState()
    looks: list[Contact | None] = [
        REACHED,
        Unknown(because="no time"),
        None,
        REACHED,
        CUT,
        Unknown(because="no time"),
        REACHED,
    ]
    told = [[c.turn for c in memory.take(meshed(one)) if c.kind is Kind.EDGE] for one in looks]
    assert told == [[Turn.NEW], [], [], [], [Turn.BROKE], [], [Turn.BACK]]


PLACES: tuple[Vantage, ...] = (HOST, *(inside(f"name-{letter}") for letter in "abcdefghij"))
ADDRESSES = [f"{letter}.example:909{n}" for n, letter in enumerate("abcdefghij")]
WORKING = seen({(place, to): OK for place in PLACES for to in ADDRESSES})
BROKEN = seen(
    {
        (place, to): failed("timeout", f"{place.label} waits for {to}") if place.label[-1:] < to else OK
        for place in PLACES
        for to in ADDRESSES
    }
)


def live_screen_drawn(report: Report, told: list[Line], *, rows: int, columns: int) -> list[Line]:
    return watch_screen(report, told, Screen(width=max(40, columns)), rows=rows, columns=columns, status="12:00:00")


@each("rows", [1, 2, 3, 5, 10, 24, 60, 200])
@each("columns", [1, 2, 20, 40, 80, 140])
@each("count", [0, 1, 500])
def test_it_fits(rows: int, columns: int, count: int) -> None:
    told = [*change_lines(changes_between(WORKING, BROKEN), Screen(width=80), "12:00:00")] * count
    lines = live_screen_drawn(BROKEN, told, rows=rows, columns=columns)
    assert 0 < len(lines) <= rows
    assert max(map(line_width, lines)) <= columns


def test_matrix_and_latest_changes_share_the_height() -> None:
    told = change_lines(changes_between(WORKING, BROKEN), Screen(width=80), "12:00:00")
    text = paint(live_screen_drawn(BROKEN, told, rows=24, columns=100), Screen())
    assert "Where clients can connect" in text
    assert "enlarge the window" in text
    lines = text.splitlines()
    assert lines[lines.index("Changes") + 1] == paint(told[:1], Screen()).rstrip("\n")


def test_all_is_shown_where_there_is_room() -> None:
    text = paint(live_screen_drawn(WORKING, [], rows=60, columns=140), Screen())
    assert text.startswith("110 of 110 cells work  12:00:00\n")
    assert "enlarge" not in text
    assert "Changes" not in text


def test_without_an_engine_what_was_seen_last_stays_with_a_word_on_it() -> None:
    gone = Report(inputs=lost("\x1b[31mno engine answers there").inputs, matrices=WORKING.matrices)
    text = paint(live_screen_drawn(gone, [], rows=60, columns=140), Screen())
    assert "docker engine: not checked: \\x1b[31mno engine answers there; below is the last observation" in text
    assert "Where clients can connect" in text


def test_nothing_known_is_a_picture_too() -> None:
    assert paint(live_screen_drawn(Report(), [], rows=24, columns=80), Screen()) == "0 of 0 cells work  12:00:00\n"


def test_some_work() -> None:
    some = seen({(HOST, "a:1"): OK, (HOST, "b:1"): REFUSED, (HOST, "c:1"): None, (HOST, "d:1"): PARTIAL})
    assert (
        paint(live_screen_drawn(some, [], rows=1, columns=80), Screen()) == "1 of 3 cells work, 1 in part  12:00:00\n"
    )
