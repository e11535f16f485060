"""Sessions of Testcontainers, by its libraries for Java and Python: what netdiag finds in each arrangement, and kcat.

Each is started as people get it wrong, where netdiag must find the cause and kcat must fail, and then as the hint has
it, where kcat works and no error is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.figures import Report as Figure
from tests.lab.image_set import CP_KAFKA
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.testcontainers_sessions import (
    IMAGES,
    JAVA,
    PYTHON,
    Planned,
    Session,
    load_testcontainers_images,
    session,
)
from tests.live.runs import measured

MISSING = "live-testcontainers-listener"
BOOTSTRAP = "KAFKA_BOOTSTRAP_SERVERS"
_SECONDS = 8


def kafka(library: str, **how: Any) -> Planned:
    """A broker called kafka on the session's network."""
    how = {"name": "kafka", "image": IMAGES[library], "networks": ("n",), "aliases": ("kafka",), **how}
    return Planned(kafka=True, **how)


def app(bootstrap: str, network: str = "n", **how: Any) -> Planned:
    """A client that is configured with an address."""
    return Planned(name="app", networks=(network,), aliases=("app",), environment={BOOTSTRAP: bootstrap}, **how)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A plan, and the address at which kcat is to be tried: from app, or from the docker host."""

    plan: tuple[Planned, ...]
    at: str
    host: str = "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """What people get wrong, and what they do about it; the rule that finds it, and words of each hint.

    `then` happens to the wrong one after it has started. `beside` is another session that runs meanwhile.
    """

    name: str
    library: str
    wrong: Form
    right: Form
    rule: str
    hints: tuple[str, ...] = ("",)
    then: Callable[[Session], None] | None = None
    beside: tuple[str, tuple[Planned, ...]] | None = None
    is_short: bool = False


def restart(running: Session) -> None:
    """As after a restart of the machine."""
    identifier = running.ids["kafka"]
    running.engine.docker("restart", "--time", "1", identifier)
    _until(lambda: running.engine.docker("logs", identifier).count("Kafka Server started") >= 2)


CLUSTER = (
    kafka(JAVA, name="one", aliases=("kafka-1",), environment={"KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka-1:9094"}),
    kafka(
        JAVA,
        name="two",
        aliases=("kafka-2",),
        environment={
            "KAFKA_NODE_ID": "2",
            "KAFKA_PROCESS_ROLES": "broker",
            "KAFKA_LISTENERS": "PLAINTEXT://0.0.0.0:9092,BROKER://0.0.0.0:9093",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka-1:9094",
        },
    ),
)
LISTENER = {"kafka:19092": ""}
ARRANGEMENTS = (
    Arrangement(
        name="java, one network",
        library=JAVA,
        wrong=Form(plan=(kafka(JAVA), app("kafka:9092")), at="kafka:9092"),
        right=Form(plan=(kafka(JAVA, listeners=LISTENER), app("kafka:19092")), at="kafka:19092"),
        rule=MISSING,
        hints=('.withListener("kafka:19092")',),
        is_short=True,
    ),
    Arrangement(
        name="java, image of Confluent",
        library=JAVA,
        wrong=Form(plan=(kafka(JAVA, image=CP_KAFKA), app("kafka:9092")), at="kafka:9092"),
        right=Form(plan=(kafka(JAVA, image=CP_KAFKA), app("kafka:9093")), at="kafka:9093"),
        rule=MISSING,
        hints=("kafka:9093 works from there",),
    ),
    Arrangement(
        name="python, one network",
        library=PYTHON,
        wrong=Form(plan=(kafka(PYTHON), app("kafka:9093")), at="kafka:9093"),
        right=Form(plan=(kafka(PYTHON), app("kafka:9092")), at="kafka:9092"),
        rule=MISSING,
        hints=("let containers use kafka:9092",),
    ),
    Arrangement(
        name="java, a listener on a port of the library",
        library=JAVA,
        wrong=Form(plan=(kafka(JAVA, listeners={"kafka:9092": ""}, fails=True), app("kafka:9092")), at="kafka:9092"),
        right=Form(plan=(kafka(JAVA, listeners=LISTENER), app("kafka:19092")), at="kafka:19092"),
        rule="listener-port-conflict",
        hints=('.withListener("kafka:19092")',),
    ),
    Arrangement(
        name="python, two networks",
        library=PYTHON,
        wrong=Form(
            plan=(app("kafka:9092"), kafka(PYTHON, networks=("n", "m"), fails=True)),
            at="kafka:9092",
        ),
        right=Form(
            plan=(app("kafka:9092"), kafka(PYTHON, networks=("n", "m"), first_host_only=True)),
            at="kafka:9092",
        ),
        rule="listener-unparsable",
        hints=("kafka_config.limit_broker_to_first_host = True",),
    ),
    Arrangement(
        name="java, an address that was mapped before a restart",
        library=JAVA,
        wrong=Form(plan=(kafka(JAVA, networks=()),), at=""),
        right=Form(plan=(kafka(JAVA, networks=()),), at=""),
        rule="advertised-port-differs-from-published",
        hints=("start a new one",),
        then=restart,
    ),
    Arrangement(
        name="python, an address that was mapped before a restart",
        library=PYTHON,
        wrong=Form(plan=(kafka(PYTHON),), at=""),
        right=Form(plan=(kafka(PYTHON),), at=""),
        rule="advertised-port-differs-from-published",
        hints=("start a new one",),
        then=restart,
    ),
    Arrangement(
        name="java, reused",
        library=JAVA,
        wrong=Form(
            plan=(kafka(JAVA, reuse=True, networks=("/tc-shared",)), app("kafka:9092", "/tc-shared")), at="kafka:9092"
        ),
        right=Form(
            plan=(
                kafka(JAVA, reuse=True, networks=("/tc-shared",), listeners=LISTENER),
                app("kafka:19092", "/tc-shared"),
            ),
            at="kafka:19092",
        ),
        rule=MISSING,
        hints=('.withListener("kafka:19092")',),
    ),
    Arrangement(
        name="java, access to the docker host",
        library=JAVA,
        wrong=Form(
            plan=(
                kafka(JAVA, exposes_port=True),
                app("host.testcontainers.internal:PORT", reaches_host=True),
            ),
            at="host.testcontainers.internal:PORT",
        ),
        right=Form(
            plan=(kafka(JAVA, exposes_port=True, listeners=LISTENER), app("kafka:19092", reaches_host=True)),
            at="kafka:19092",
        ),
        rule=MISSING,
        hints=('.withListener("kafka:19092")',),
    ),
    Arrangement(
        name="two sessions",
        library=JAVA,
        wrong=Form(plan=(kafka(JAVA), app("kafka:9092")), at="kafka:9092"),
        right=Form(plan=(kafka(JAVA, listeners=LISTENER), app("kafka:19092")), at="kafka:19092"),
        rule=MISSING,
        hints=('.withListener("kafka:19092")',),
        beside=(PYTHON, (kafka(PYTHON), app("kafka:9092"))),
    ),
    Arrangement(
        name="java, cluster",
        library=JAVA,
        wrong=Form(plan=(*CLUSTER, app("kafka-1:9092")), at="kafka-1:9092"),
        right=Form(
            plan=(
                *(replace(one, listeners={f"{one.aliases[0]}:19092": ""}) for one in CLUSTER),
                app("kafka-1:19092"),
            ),
            at="kafka-1:19092",
        ),
        rule=MISSING,
        hints=('.withListener("kafka-1:19092")', '.withListener("kafka-2:19092")'),
    ),
    Arrangement(
        name="python, no alias",
        library=PYTHON,
        wrong=Form(plan=(kafka(PYTHON, aliases=("broker",)), app("kafka:9092")), at="kafka:9092"),
        right=Form(plan=(kafka(PYTHON), app("kafka:9092")), at="kafka:9092"),
        rule="live-dependent-cannot-connect",
    ),
    Arrangement(
        name="java, a name for the docker host that nobody resolves",
        library=JAVA,
        wrong=Form(plan=(kafka(JAVA, networks=()),), at="", host="docker"),
        right=Form(plan=(kafka(JAVA, networks=()),), at=""),
        rule="live-advertised-unreachable",
    ),
    Arrangement(
        name="java, a listener on one of two networks",
        library=JAVA,
        wrong=Form(
            plan=(
                kafka(JAVA, networks=("/tc-a", "/tc-b"), listeners=LISTENER),
                app("kafka:19092", "/tc-b"),
            ),
            at="kafka:19092",
        ),
        right=Form(
            plan=(
                kafka(JAVA, networks=("/tc-a", "/tc-b"), listeners={"0.0.0.0:19092": "kafka:19092"}),
                app("kafka:19092", "/tc-b"),
            ),
            at="kafka:19092",
        ),
        rule="listener-bound-to-one-network",
        hints=('.withListener("0.0.0.0:19092", () -> "kafka:19092")',),
    ),
)


@dataclass(slots=True)
class Checked:
    """What a live check says."""

    document: dict[str, Any]
    errors: list[dict[str, Any]] = field(default_factory=list)

    def found(self, rule: str) -> list[dict[str, Any]]:
        """The findings of a rule."""
        return [finding for finding in self.document["findings"] if finding["rule"] == rule]


@pytest.mark.bar("testcontainers", long=True)
@pytest.mark.parametrize("each", [one for one in ARRANGEMENTS if not one.is_short], ids=lambda one: one.name)
def test_the_finding_is_what_fails_and_its_hint_helps(
    lab: Lab, each: Arrangement, tmp_path: Path, figure: Figure
) -> None:
    proven(lab, each, tmp_path)
    figure("arrangements", 1)


@pytest.mark.bar("testcontainers")
@pytest.mark.parametrize("each", [one for one in ARRANGEMENTS if one.is_short], ids=lambda one: one.name)
def test_a_container_gets_the_mapped_port(lab: Lab, each: Arrangement, tmp_path: Path, figure: Figure) -> None:
    proven(lab, each, tmp_path)
    figure("arrangements", 1)


@pytest.mark.bar("testcontainers", long=True)
@pytest.mark.parametrize(
    ("library", "listeners", "hint"),
    [
        (JAVA, {}, '.withNetworkAliases("kafka-2")'),
        (JAVA, LISTENER, '.withListener("kafka-2:19092")'),
        (PYTHON, {}, '.with_network_aliases("kafka-2")'),
    ],
)
def test_two_brokers_with_one_alias_are_two_clusters(
    lab: Lab, library: str, listeners: dict[str, str], hint: str
) -> None:
    """The library gives both one cluster id and one node id: nothing of one is said of the other."""
    load_testcontainers_images(lab.engine)
    pair = [kafka(library, name=name, listeners=listeners) for name in ("one", "two")]
    with session(lab.engine, library, [*pair, app(next(iter(listeners), "kafka:9092"))]):
        checked = check(lab)
    rules = {finding["rule"] for finding in checked.document["findings"]}
    assert rules == {"live-ambiguous-name", *(["duplicate-advertised-endpoint"] if listeners else [])}
    assert all(finding["hint"].endswith(hint) for finding in checked.document["findings"])
    assert [cell for cell in checked.document["matrix"] if cell["agrees"] is False] == []


def proven(lab: Lab, each: Arrangement, folder: Path) -> None:
    """The wrong form and the right one."""
    load_testcontainers_images(lab.engine)
    (folder / ".testcontainers.properties").write_text("testcontainers.reuse.enable=true\n")
    with ExitStack() as stack:
        if each.beside is not None:
            stack.enter_context(session(lab.engine, each.beside[0], each.beside[1]))
        with started(lab, each.library, each.wrong, folder) as running:
            if each.then is not None:
                each.then(running)
            if any(one.fails for one in each.wrong.plan):
                _until(lambda: bool(lab.engine.docker("ps", "-q", "--filter", "status=exited").split()))
            checked = check(lab)
            findings = checked.found(each.rule)
            said = sorted(finding["hint"] for finding in findings)
            assert len(said) == len(each.hints), checked.document["findings"]
            assert all(words in hint for words, hint in zip(each.hints, said, strict=True)), said
            assert len(checked.document["inputs"]) == (1 if each.beside is None else 2)
            assert not delivers(lab, running, each.wrong)
        with started(lab, each.library, each.right, folder) as running:
            checked = check(lab)
            assert not checked.errors, checked.errors
            assert not checked.found(each.rule)
            assert delivers(lab, running, each.right)


@contextmanager
def started(lab: Lab, library: str, form: Form, folder: Path) -> Iterator[Session]:
    """A session of a form, on networks that are there already where its plan names such ones."""
    made = sorted({name for one in form.plan for name in one.networks if name.startswith("/")})
    ids = {name: "/" + lab.engine.docker("network", "create", name.removeprefix("/")).strip() for name in made}
    plan = [replace(one, networks=tuple(ids.get(name, name) for name in one.networks)) for one in form.plan]
    try:
        with session(lab.engine, library, plan, host=form.host, home=folder) as running:
            yield running
    finally:
        left = lab.engine.docker("ps", "-aq", "--filter", "label=org.testcontainers.hash").split()
        if left:
            lab.engine.docker("rm", "-fv", *left)
        if made:
            lab.engine.docker("network", "rm", *(name.removeprefix("/") for name in made))


def check(lab: Lab) -> Checked:
    """A live check of everything on the engine, once all brokers are up; what is only just starting is not judged."""
    document: dict[str, Any] = {}

    def is_settled() -> bool:
        document.clear()
        document.update(
            measured("check-listeners", "--live", "--host", lab.engine.docker_host, "--format", "json").document
        )
        return not any(f["rule"] in ("live-broker-starting", "live-controller-lost") for f in document["findings"])

    _until(is_settled)
    return Checked(document, [one for one in document["findings"] if one["severity"] == "error"])


def delivers(lab: Lab, running: Session, form: Form) -> bool:
    """Whether kcat delivers a message to the form's address: from app, or else from the docker host."""
    send = "echo x | kcat -P -b {} -t proof -X message.timeout.ms={} 2>&1"
    if form.at:
        port = next((b.rpartition(":")[2] for b in running.bootstraps.values()), "")
        words = send.format(form.at.replace("PORT", port), _SECONDS * 1000)
        argv: Sequence[str] = ["docker", "exec", running.ids["app"], "sh", "-c", words]
    else:
        mapped = running.engine.docker("port", running.ids["kafka"]).split("0.0.0.0:")[1].split()[0]
        words = send.format(f"localhost:{mapped}", _SECONDS * 1000)
        argv = lab.engine.host.argv_in_root(lab.client_root, ["sh", "-c", words])
    done = run(argv, check=False, timeout=60, env=running.engine.environment)
    return done.returncode == 0 and "Delivery failed" not in done.stdout


def _until(holds: Callable[[], bool], limit: float = 120.0) -> None:
    deadline = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < deadline, "nothing changes"
        time.sleep(0.5)
