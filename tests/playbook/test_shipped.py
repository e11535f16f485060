"""The playbooks that come with netdiag: every line is recognised, every cause reached from what it needs alone."""

from collections.abc import Iterator, Mapping
from functools import cache

from netdiag.app.playbook_actions import finding_item
from netdiag.findings import Finding
from netdiag.io.files.playbooks import shipped
from netdiag.playbook.document import (
    ActionName,
    Conclusion,
    Condition,
    Either,
    Every,
    Item,
    No,
    Outcome,
    Playbook,
    Step,
    There,
    glob,
    recognised,
)
from netdiag.playbook.runner import End, run, variables_of
from netdiag.rules.all_rules import ALL
from netdiag.rules.compose import COMPOSE, check_project
from netdiag.rules.declared import DECLARED, check_deployment
from netdiag.rules.observed import OBSERVED, check_live
from netdiag.rules.rule import rule_page
from netdiag.rules.topology import TOPOLOGY, check_topology
from netdiag.rules.wire import WIRE, check_wire
from tests.deployment.stacks import deployment_of, project_of
from tests.each import each
from tests.rules.recorded import view_of
from tests.rules.topology_recorded import Recorded
from tests.rules.wire_recorded import wire_view_of

BOOKS = shipped()
IDS = [rule.ID for rule in ALL]
EXAMPLES = [(book, symptom) for book in BOOKS for symptom in book.symptoms]


def asked_rules(condition: Condition) -> Iterator[tuple[str, str]]:
    """Step and rule (or pattern of rules) that a condition names."""
    match condition:
        case There():
            yield from ((condition.step, rule) for rule in condition.where.get("rule", ()))
        case Every() | Either():
            for part in condition.parts:
                yield from asked_rules(part)
        case No():
            yield from asked_rules(condition.part)


def proofs() -> list[tuple[Playbook, Conclusion, str]]:
    """Every conclusion with every rule that leads to it."""
    return [
        (book, one, rule)
        for book in BOOKS
        for one in book.conclusions
        for _, asked in asked_rules(one.when)
        for rule in IDS
        if glob(asked, rule)
    ]


@cache
def seen(rule: str, *, good: bool) -> tuple[ActionName, tuple[Item, ...]]:
    """What the look that finds a rule sees in the example of its own page, the bad one or the good one."""
    known = {each.ID: each for each in ALL}[rule]
    page = rule_page(known.__doc__ or "")
    text = page.good if good else page.bad
    findings: tuple[Finding, ...] = ()
    action = ActionName.LINT
    if known in DECLARED or known in COMPOSE:
        findings = (*check_project(project_of(text)), *check_deployment(deployment_of(text)))
    elif known in OBSERVED:
        findings, action = check_live(view_of(text)), ActionName.MATRIX
    elif known in TOPOLOGY:
        findings, action = check_topology(Recorded(text).topology), ActionName.TOPOLOGY
    elif known in WIRE:
        findings, action = check_wire(wire_view_of(text)), ActionName.ANALYZE
    return action, tuple(map(finding_item, findings))


def made(book: Playbook, rule: str, *, good: bool) -> tuple[End, list[str]]:
    """How a run ends that sees the example of a rule, and what it concludes."""
    action, items = seen(rule, good=good)

    def perform(step: Step, arguments: Mapping[str, str]) -> Outcome:
        return Outcome(items=items if step.action is action else ())

    done = run(book, variables_of(book, {}, {}), perform, live=True)
    return done.end, [one.conclusion.id for one in done.reached]


def test_there_are_enough() -> None:
    assert len(BOOKS) >= 20
    assert len(EXAMPLES) >= 100


@each(("book", "symptom"), EXAMPLES)
def test_a_line_is_recognised_as_its_own_playbook(book: Playbook, symptom: object) -> None:
    example = getattr(symptom, "example", "")
    assert [one.playbook.name for one in recognised([example], BOOKS)] == [book.name]


@each(("book", "conclusion", "rule"), proofs())
def test_a_cause_is_reached_from_what_shows_it_and_not_without(
    book: Playbook, conclusion: Conclusion, rule: str
) -> None:
    end, reached = made(book, rule, good=False)
    assert end is End.CAUSE
    assert conclusion.id in reached
    assert made(book, rule, good=True) == (End.NO_CAUSE, [])


@each("book", BOOKS, ids=lambda book: book.name)
def test_what_a_playbook_names_is_there(book: Playbook) -> None:
    for one in book.conclusions:
        for rule in (*one.rules, *(rule for _, rule in asked_rules(one.when))):
            assert any(glob(rule, name) for name in IDS), rule
        assert one.cause.endswith(".")
        assert one.repair.endswith(".")
    assert book.steps[0].action is ActionName.LINT


def test_what_healthy_programs_write_is_no_symptom() -> None:
    # Lines of brokers and clients that work, as they are written all the time.
    lines = [
        "INFO [KafkaRaftServer nodeId=1] Kafka Server started (kafka.server.KafkaRaftServer)",
        "INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)",
        "INFO [SocketServer listenerType=BROKER, nodeId=1] Enabling request processing. (kafka.network.SocketServer)",
        "INFO Awaiting socket connections on 0.0.0.0:9092. (kafka.network.DataPlaneAcceptor)",
        "INFO [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance with old generation 0",
        "INFO [Consumer clientId=c, groupId=g] Discovered group coordinator localhost:9092 (id: 2147483646 rack: null)",
        "INFO [Consumer clientId=c, groupId=g] Successfully joined group with generation Generation{generationId=1}",
        "INFO [Producer clientId=p] Cluster ID: 5L6g3nShT-eMCtK--X86sw (org.apache.kafka.clients.Metadata)",
        "INFO Registered broker 1 at path /brokers/ids/1 with addresses: PLAINTEXT://kafka:9092",
        "INFO [AdminClient clientId=adminclient-1] Node -1 disconnected. (org.apache.kafka.clients.NetworkClient)",
        "advertised.listeners = PLAINTEXT://localhost:9092",
        "security.protocol = PLAINTEXT",
        "%7|1767607872.345|CONNECT|rdkafka#producer-1| [thrd:localhost:9092/1]: localhost:9092/1: Connec"
        "ted to ipv4#127.0.0.1:9092",
        "INFO:kafka.conn:<BrokerConnection node_id=1 host=localhost:9092>: Connection complete.",
    ]
    assert recognised(lines, BOOKS) == ()
