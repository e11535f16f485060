"""Playbooks over the files of stacks: the broken one leads to its cause, the repaired one to nothing wrong.

The stacks are the scenarios, and a few of `tests/playbook/stacks` with what no scenario has.
"""

from collections.abc import Mapping
from functools import cache

from netdiag.app.playbook_actions import finding_item
from netdiag.io.files.playbooks import shipped
from netdiag.playbook.document import ActionName, Item, Outcome, Step
from netdiag.playbook.runner import End, Run, run
from tests.app.checks import report_of
from tests.each import each
from tests.house.tree import ROOT

BOOKS = {book.name: book for book in shipped()}
FOLDER = ROOT / "compose" / "scenarios"
OWN = "../../tests/playbook/stacks"
# folder, stacks, playbook, its conclusion
CASES = [
    ("S02-inter-broker-loopback", "kraft zookeeper", "brokers-cut-off", "bound-to-loopback"),
    ("S03-bind-own-name", "kraft zookeeper", "accepted-then-closed", "nobody-behind"),
    ("S04-bind-foreign-address", "kraft zookeeper", "cannot-bind", "foreign-address"),
    ("S05-bind-static-address", "kraft", "cannot-bind", "foreign-address"),
    ("S07-single-listener-container-name", "kraft zookeeper", "advertised-unresolved", "internal-name-advertised"),
    ("S08-single-listener-localhost", "kraft zookeeper", "advertised-refused", "one-listener-for-two-worlds"),
    ("S09-published-port-moved", "kraft kraft.two-clusters", "advertised-refused", "published-port-differs"),
    ("S09-published-port-moved", "kraft.two-clusters", "wrong-broker-answers", "port-moved"),
    ("S10a-brokers-that-do-not-start", "kraft", "broker-refuses-wildcard", "wildcard-advertised"),
    ("S10a-brokers-that-do-not-start", "kraft", "listener-unmapped", "map-lacks-name"),
    ("S10a-brokers-that-do-not-start", "kraft", "listeners-collide", "same-port"),
    ("S10a-brokers-that-do-not-start", "kraft", "inter-broker-listener-missing", "wrong-name"),
    ("S10a-brokers-that-do-not-start", "kraft", "controller-listener-missing", "no-controller-listener"),
    ("S10a-brokers-that-do-not-start", "kraft", "mode-lost", "defaults-dropped"),
    ("S10b-start-and-mislead", "kraft", "container-id-advertised", "nothing-advertised"),
    ("S11-two-networks", "kraft", "bootstrap-unresolved", "no-shared-network"),
    ("S11-two-networks", "kraft", "client-times-out", "no-shared-network"),
    ("S12-default-bridge", "kraft", "bootstrap-unresolved", "no-shared-network"),
    ("S13-internal-network", "kraft", "bootstrap-refused", "not-published"),
    ("S14-host-network", "kraft", "advertised-unresolved", "no-shared-network"),
    ("S15-duplicate-advertised-endpoint", "zookeeper", "endpoint-registered-twice", "same-endpoint"),
    ("S15-duplicate-advertised-endpoint", "kraft", "wrong-broker-answers", "one-address-for-several"),
    ("S16-docker-proxy-dead-port", "kraft", "accepted-then-closed", "nobody-behind"),
    ("S20-dependents", "kraft", "bootstrap-refused", "client-dials-itself"),
    ("S20-dependents", "kraft", "coordinator-unavailable", "endpoint-unreachable"),
    ("S20-dependents", "kraft", "schema-registry-endpoints", "cannot-connect"),
    ("S10b-start-and-mislead", "kraft", "controller-advertised", "controller-among-advertised"),
    ("S24-jmx-second-hop", "zookeeper", "jmx-second-hop", "random-port"),
    ("S24-jmx-second-hop", "kraft", "jmx-second-hop", "host-means-nothing"),
    ("S25-certificate-without-name", "kraft", "tls-name-not-covered", "key-store-lacks-name"),
    (OWN, "faults", "cluster-id-differs", "ids-in-the-files"),
    ("S22-stale-volume", "kraft", "cluster-id-differs", "ids-in-the-files"),
    ("S23-connect-neighbours", "kraft", "connect-forward-fails", "url-unreachable"),
    (OWN, "faults", "invalid-receive-size", "protocols-differ"),
    (OWN, "faults", "kafka-port-variable", "variable-refused"),
    (OWN, "faults", "leader-without-listener", "sets-differ"),
    (OWN, "faults", "listener-unparsable", "malformed"),
    (OWN, "faults", "quorum-unreachable", "voters-wrong"),
    (OWN, "ports", "port-already-allocated", "twice-in-the-files"),
    (OWN, "faults", "sasl-expected", "protocols-differ"),
    (OWN, "faults", "tls-against-plaintext", "protocols-differ"),
    (OWN, "zookeeper", "zookeeper-unreachable", "address-leads-nowhere"),
]
# What files show otherwise than what runs, or alone.
FILES_ALONE = [
    # Nothing can be pulled where no registry is reached, so nothing of such a stack ever runs.
    (OWN, "images", "image-gone", "gone"),
    # Of a container that runs nobody reads the health check.
    ("S20-dependents", "kraft", "controller-as-bootstrap", "control-port"),
]
# What no file shows: what clients do that are no part of a stack, what a certificate holds.
LIVE_ALONE = [
    ("S20-dependents", "kraft", "controller-as-bootstrap", "seen-from-a-client"),
    (OWN, "wire", "accepted-then-closed", "tls-on-the-wire"),
    (OWN, "wire", "invalid-receive-size", "stranger-on-the-wire"),
    (OWN, "wire", "tls-against-plaintext", "tls-on-the-wire"),
    ("S17-tls-and-sasl", "kraft", "tls-name-not-covered", "name-missing"),
]
PAIRS = [(folder, stack, book, conclusion) for folder, stacks, book, conclusion in CASES for stack in stacks.split()]
ALL_REPAIRED = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.repaired.yml"))


@cache
def found_in(path: str) -> tuple[Item, ...]:
    """What a lint of a stack gives a playbook; every playbook is run over it."""
    return tuple(map(finding_item, report_of(FOLDER / path, matrix=False).findings))


def over(book: str, path: str) -> Run:
    """A run in which files are all that there is to see."""
    items = found_in(path)

    def perform(step: Step, arguments: Mapping[str, str]) -> Outcome:
        return Outcome(items=items if step.action is ActionName.LINT else ())

    return run(BOOKS[book], {}, perform, live=True)


def test_every_playbook_has_a_stack_that_proves_it() -> None:
    assert {book for _, _, book, _ in (*PAIRS, *FILES_ALONE, *LIVE_ALONE)} == set(BOOKS)


@each(("folder", "stack", "book", "conclusion"), [*PAIRS, *FILES_ALONE])
def test_the_broken_stack_leads_to_its_cause(folder: str, stack: str, book: str, conclusion: str) -> None:
    broken = over(book, f"{folder}/{stack}.broken.yml")
    assert broken.reached[0].conclusion.id == conclusion
    assert broken.reached[0].evidence


@each(("folder", "stack", "book", "conclusion"), [*PAIRS, *FILES_ALONE])
def test_the_repaired_stack_leads_to_nothing_wrong(folder: str, stack: str, book: str, conclusion: str) -> None:
    repaired = over(book, f"{folder}/{stack}.repaired.yml")
    assert conclusion not in [one.conclusion.id for one in repaired.reached]
    assert repaired.end is End.NO_CAUSE


@each("path", ALL_REPAIRED)
def test_no_playbook_proves_anything_of_a_repaired_stack(path: str) -> None:
    proven = [name for name in BOOKS for one in over(name, path).reached if one.confidence.value == "proven"]
    assert proven == []
