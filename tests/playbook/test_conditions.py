"""Conditions and what they compare."""

import pytest

from netdiag.app.playbook_actions import (
    capture_item,
    cause_item,
    cell_item,
    connections_item,
    edge_item,
    finding_item,
    line_item,
    location_text,
    path_items,
    step_item,
    traffic_item,
)
from netdiag.deployment.model.causes import Cause, Certainty, Repair
from netdiag.deployment.model.verdict import Address, Answered, Cell, Failed, Mechanism, NodeEndpoint, Reason, judge
from netdiag.deployment.observation.probe import Step, StepKind
from netdiag.deployment.prediction.mesh import Edge, EdgeKind
from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    Severity,
    TopologyLocation,
    WireLocation,
)
from netdiag.playbook.document import (
    ACTIONS,
    ActionName,
    Condition,
    Either,
    Every,
    Item,
    No,
    Outcome,
    There,
    asked,
    evidence,
    glob,
    is_comparison,
)
from netdiag.topology.graph import Hop, HopKind, Path, PathEnd


def test_looked() -> None:
    assert Outcome().looked
    assert not Outcome(why_not="no engine").looked
    assert Outcome(seconds=1.0) == Outcome(seconds=2.0)


def item(**fields: str) -> Item:
    return Item(of="findings", fields=fields)


SEEN = {
    "one": Outcome(items=(item(rule="a-b", count="3"), item(rule="a-c", count="7"))),
    "two": Outcome(why_not="no engine"),
}


def there(step: str = "", at_least: int = 1, **where: str) -> There:
    return There(step=step, of="findings", where={n: tuple(v.split("|")) for n, v in where.items()}, at_least=at_least)


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        (there(rule="a-b"), ["a-b"]),
        (there(rule="a-*"), ["a-b", "a-c"]),
        (there(rule="x|a-c"), ["a-c"]),
        (there(step="one", rule="a-*", at_least=3), None),
        (there(step="one", count=">=4"), ["a-c"]),
        (there(step="one", count="<3"), None),
        (there(step="two"), None),
        (there(step="never"), None),
        (there(colour="*"), ["a-b", "a-c"]),
        (there(colour="?"), None),
        (Every(parts=(there(rule="a-b"), there(rule="a-*"))), ["a-b", "a-c"]),
        (Every(parts=(there(rule="a-b"), there(rule="x"))), None),
        (Either(parts=(there(rule="x"), there(rule="a-c"))), ["a-c"]),
        (Either(parts=(there(rule="x"), there(rule="y"))), None),
        (No(part=there(step="one", rule="x")), []),
        (No(part=there(step="one", rule="a-b")), None),
        (No(part=there(step="two", rule="x")), None),
        (No(part=there(step="never", rule="x")), None),
    ],
)
def test_what_holds(condition: Condition, held: list[str] | None) -> None:
    found = evidence(condition, SEEN)
    assert (None if found is None else [each.fields["rule"] for each in found]) == held


def test_the_steps_that_are_asked_about() -> None:
    assert asked(Every(parts=(there(step="a"), No(part=Either(parts=(there(step="b"), there(step="a"))))))) == (
        "a",
        "b",
    )


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("*", "", True),
        ("", "", True),
        ("", "x", False),
        ("a*c", "abbbc", True),
        ("a*c", "abbbd", False),
        ("ADVERTISED: *", "advertised: refused", True),
        ("a*b*c*", "a.b.c", True),
        ("*a", "ba", True),
        ("a?", "ab", False),
    ],
)
def test_globs(pattern: str, text: str, fits: bool) -> None:
    assert glob(pattern, text) is fits


def test_a_glob_of_stars_takes_no_longer_than_its_product() -> None:
    assert not glob("*a" * 200 + "b", "a" * 4000)


def test_comparisons() -> None:
    assert is_comparison(">=3")
    assert not is_comparison("3")


BROKER = Address(host="kafka", port=9092)
REFUSED = Failed(reason=Reason.REFUSED, because="nobody listens", ip="127.0.0.1", mechanism=Mechanism.OWN_LOOPBACK)


def test_a_finding() -> None:
    location = ContainerLocation(container="kafka-1", part="PLAINTEXT")
    finding = Finding(rule="r", severity=Severity.ERROR, message="m" * 5000, location=location)
    made = finding_item(finding)
    assert tuple(made.fields) == ACTIONS[ActionName.LINT].gives["findings"]
    assert made.fields["where"] == "kafka-1 PLAINTEXT"
    assert len(made.fields["message"]) == 600


def test_a_cell() -> None:
    answer = Answered(node_id=1, cluster_id="c", brokers=(NodeEndpoint(node_id=1, host="localhost", port=9092),))
    cell = Cell(vantage="C", bootstrap=BROKER, observed=judge(answer, lambda endpoint: REFUSED))
    fields = cell_item(cell).fields
    assert tuple(fields) == ACTIONS[ActionName.MATRIX].gives["cells"]
    assert (fields["verdict"], fields["word"], fields["reason"]) == ("advertised: refused", "advertised", "refused")
    assert (fields["host"], fields["port"], fields["mechanism"]) == ("kafka", "9092", "own-loopback")
    assert fields["endpoints"] == "localhost:9092 refused"
    assert cell_item(Cell(vantage="C", bootstrap=BROKER)).fields["verdict"] == ""


def test_an_edge() -> None:
    edge = Edge(kind=EdgeKind.INTER_BROKER, source="a", target="b", address=BROKER, observed=REFUSED)
    fields = edge_item(edge).fields
    assert tuple(fields) == ACTIONS[ActionName.MESH].gives["edges"]
    assert (fields["worth"], fields["reason"]) == ("cut", "refused: nobody listens")
    unseen = Edge(kind=EdgeKind.ZOOKEEPER, source="a", target="", address=BROKER)
    assert edge_item(unseen).fields["worth"] == "unknown"


def test_what_a_capture_holds() -> None:
    gives = {**ACTIONS[ActionName.CAPTURE].gives, **ACTIONS[ActionName.ANALYZE].gives}
    assert tuple(capture_item(["kafka-1", "kafka-2"], 7, 0, 10).fields.items()) == tuple(
        zip(gives["captures"], ("kafka-1, kafka-2", "7", "0", "10"), strict=True)
    )
    assert tuple(traffic_item(7, 2, 3).fields) == gives["traffic"]
    same = {"client": "a", "broker": "b:1", "protocol": "tls", "opening": "complete", "ending": "fin", "answered": "no"}
    assert tuple(connections_item(same, 4).fields) == gives["connections"]


def test_a_line() -> None:
    assert tuple(line_item("kafka", "x").fields) == ACTIONS[ActionName.LOG].gives["lines"]


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (FileLocation(path="a.yml", line=3, column=1, end_line=3, end_column=2, start=0, end=1), "a.yml:3"),
        (WireLocation(file="x", packet=1, time=0, client="1.1.1.1:1", broker="2.2.2.2:2"), "1.1.1.1:1 > 2.2.2.2:2"),
        (TopologyLocation(place="docker host", device="br0", part="port 1"), "docker host br0 port 1"),
    ],
)
def test_places(location: Location, text: str) -> None:
    assert location_text(location) == text


def test_steps_of_a_conversation() -> None:
    fields = step_item(BROKER, Step(act=StepKind.CONNECT, well=False, said="refused", seconds=0.1)).fields
    assert tuple(fields) == ACTIONS[ActionName.PROBE].gives["steps"]
    assert (fields["step"], fields["outcome"]) == ("connect", "failed")


def test_a_way_and_its_causes() -> None:
    hops = (Hop(kind=HopKind.ROUTE, netns=1, what="default"),)
    path = Path(
        source=1, destination="kafka", port=9092, address="10.0.0.2", hops=hops, end=PathEnd.REFUSED, because="closed"
    )
    end, hop = path_items(path)
    gives = ACTIONS[ActionName.TRACE].gives
    assert (tuple(end.fields), tuple(hop.fields)) == (gives["ends"], gives["hops"])
    assert (end.fields["end"], hop.fields["hop"]) == ("refused", "route")
    repair = Repair(text="listen", confirmed=True, because="")
    cause = Cause(
        mechanism=Mechanism.NOBODY_LISTENS, certainty=Certainty.PROVEN, because="the port is closed", repairs=(repair,)
    )
    fields = cause_item(cause).fields
    assert tuple(fields) == gives["causes"]
    assert fields["repair"] == "listen"
