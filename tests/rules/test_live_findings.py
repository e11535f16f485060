"""What rules about a live check share: failures that matter, certificates, the lines of the files behind them."""

from dataclasses import replace
from typing import Any

import pytest

from netdiag.app.playbook_actions import cause_item, finding_item
from netdiag.deployment.model.causes import (
    REPAIRS,
    Cause,
    Certainty,
    Explanation,
    Repair,
    causes_of,
    predicted_cause,
    predicted_repair,
)
from netdiag.deployment.model.verdict import Address, Cell, Failed, Mechanism, Reason, Unknown, Verdict, Word
from netdiag.deployment.observation.live_view import LiveView, SecuredPort
from netdiag.findings import ContainerLocation, FileLocation, Finding, Severity
from netdiag.kafka.security import CertificateFault, ListenerSecurity, SpokenProtocol, TlsHandshake
from netdiag.playbook.document import ActionName, Conclusion, Confidence, Item, Outcome, Playbook, Step, There
from netdiag.playbook.runner import Reached, run
from netdiag.render.matrix.sections import cause_value, explained_lines
from netdiag.render.screen import Screen, paint
from netdiag.rules.live_findings import blocked, blocked_finding, certificate_findings, listed, owner, traps
from netdiag.rules.observed import OBSERVED, check_live, check_registered
from netdiag.rules.observed.live_file_drift import check
from netdiag.topology.causes import find_causes as find_causes_module
from netdiag.topology.causes.failed_connection import Suspect
from tests.deployment.stacks import deployment_of, five_brokers
from tests.rules.recorded import address_of, view_of
from tests.topology.test_causes import failing, shop

STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9093:9093"]
    networks: [one]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_LISTENERS: INTERNAL://0.0.0.0:9092,EXTERNAL://0.0.0.0:9093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,EXTERNAL://localhost:9093
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
  app:
    image: alpine:3.20
    networks: [one]
  stranger:
    image: alpine:3.20
    networks: [two]
networks: {one: , two: }
x-observed:
  stopped: %s
  cells:
    - %s
"""


def seen(cell: str, *more: str, stopped: str = "{}") -> Any:
    return view_of(STACK % (stopped, "\n    - ".join((cell, *more))))


@pytest.mark.parametrize(
    ("vantage", "bootstrap", "is_meant"),
    [
        ("docker host", "localhost:9093", True),
        ("docker host", "kafka:9092", False),
        ("docker host", "localhost:9092", False),
        ("container app", "kafka:9092", True),
        ("container app", "kafka:9093", False),
        ("container app", "localhost:9093", False),
        ("container stranger", "kafka:9092", False),
        ("inside kafka", "kafka:9092", True),
    ],
)
def test_an_address_is_for_those_it_is_advertised_to(vantage: str, bootstrap: str, is_meant: bool) -> None:
    view = seen(f'{{vantage: {vantage}, bootstrap: "{bootstrap}", fails: refused}}')
    assert [(str(one.address), one.places) for one in blocked(view, Reason.REFUSED)] == (
        [(bootstrap, (vantage,))] if is_meant else []
    )
    assert blocked(view, Reason.TIMEOUT) == ()


def test_an_address_is_for_those_that_the_configuration_lets_through() -> None:
    prediction = (
        'prediction: {answers: {node: 1, listener: EXTERNAL}, told: [{node: 1, at: "localhost:9093", gives: ok}]}'
    )
    view = seen(f'{{vantage: container app, bootstrap: "kafka:9093", fails: refused, {prediction}}}')
    (one,) = blocked(view, Reason.REFUSED)
    assert (one.whose.broker.name, one.whose.listener, one.cause) == ("kafka", "EXTERNAL", None)


def test_a_broker_that_does_not_run_keeps_nobody_out() -> None:
    cell = '{vantage: container app, bootstrap: "kafka:9092", fails: unresolved}'
    assert blocked(seen(cell, stopped="{kafka: it ended}"), Reason.UNRESOLVED) == ()


def test_those_that_get_further_are_named() -> None:
    view = seen(
        '{vantage: container app, bootstrap: "kafka:9092", fails: unresolved}',
        '{vantage: inside kafka, bootstrap: "kafka:9092", fails: refused}',
    )
    (one,) = blocked(view, Reason.UNRESOLVED)
    assert one.better == ("inside kafka",)


SENT = 'answers: {node: 1, cluster: A}, told: [{node: 1, at: "localhost:9093", gives: refused}]'
SERVED = 'answers: {node: 1, cluster: A}, told: [{node: 1, at: "kafka:9092", gives: ok}]'


def test_a_client_that_something_else_serves_is_not_trapped() -> None:
    trapped = f'{{vantage: container app, bootstrap: "kafka:9093", {SENT}}}'
    served = f'{{vantage: container app, bootstrap: "kafka:9092", {SERVED}}}'
    assert [str(trap.bootstrap) for trap in traps(seen(trapped))] == ["kafka:9093"]
    assert list(traps(seen(trapped, served))) == []
    assert len(list(traps(seen(trapped, served.replace("cluster: A", "cluster: B"))))) == 1


def test_a_client_is_not_trapped_while_addresses_are_left_to_try() -> None:
    view = seen(f'{{vantage: container app, bootstrap: "kafka:9093", {SENT}}}')
    untried = unanswered_cell("container app", "kafka:9092")
    view = replace(view, cells=(*view.cells, untried))
    assert len(list(traps(view))) == 1
    assert list(traps(replace(view, is_cut=True))) == []


def unanswered_cell(vantage: str, address: str) -> Cell:
    contact = Unknown(because="the time limit was reached")
    return Cell(vantage=vantage, bootstrap=address_of(address), observed=Verdict(word=Word.UNKNOWN, bootstrap=contact))


def test_containers_elsewhere_are_nobody_s_clients() -> None:
    assert list(traps(seen(f'{{vantage: container stranger-2, bootstrap: "10.0.0.1:9093", {SENT}}}'))) == []


def test_an_endpoint_is_its_advertiser_s() -> None:
    view = seen('{vantage: docker host, bootstrap: "localhost:9093", fails: refused}')
    whose = owner(view, 1, address_of("localhost:9093"))
    assert whose is not None
    assert whose.listener == "EXTERNAL"
    assert owner(view, 2, address_of("localhost:9093")) is None


def test_it_says_who_gets_further_and_what_the_configuration_says() -> None:
    prediction = "prediction: {fails: unresolved, because: no such name, mechanism: no-such-name}"
    view = seen(
        f'{{vantage: container app, bootstrap: "kafka:9092", fails: unresolved, because: SERVFAIL, {prediction}}}',
        '{vantage: inside kafka, bootstrap: "kafka:9092", fails: refused}',
    )
    (block,) = blocked(view, Reason.UNRESOLVED)
    finding = blocked_finding("r", Severity.ERROR, block, words="does not resolve")
    assert finding.message == 'from container app: "kafka:9092" (listener INTERNAL of kafka) does not resolve'
    assert finding.why == "no such name; SERVFAIL; it resolves from inside kafka"
    assert finding.hint == REPAIRS[Mechanism.NO_SUCH_NAME]


def shown(vantage: str, host: str, member: str = "") -> SecuredPort:
    faults = ((CertificateFault.EXPIRED, "it ended"), (CertificateFault.WEAK_KEY, "RSA 512"))
    tls = TlsHandshake(versions=(), cipher="", chain=(), wants_client=False, needs_client=False, faults=faults)
    listener = "EXTERNAL" if member else ""
    address = Address(host=host, port=9091)
    sight = ListenerSecurity(spoken=SpokenProtocol.SSL, tls=tls)
    return SecuredPort(vantage=vantage, address=address, member=member, listener=listener, sight=sight)


def test_the_same_listener_under_two_names_is_told_of_once() -> None:
    ports = (shown("docker host", "localhost", "broker-1"), shown("LAN", "lab", "broker-1"), shown("LAN", "stranger"))
    view = LiveView(deployment=deployment_of(five_brokers()), security=ports)
    expired = (CertificateFault.EXPIRED,)
    found = list(certificate_findings(view, "r", Severity.ERROR, expired, says="has expired", hint="renew it"))
    assert [(f.message, f.service) for f in found] == [
        ("the certificate of listener EXTERNAL of broker-1 has expired: localhost:9091 and lab:9091", "broker-1"),
        ("the certificate of stranger:9091 has expired: stranger:9091", None),
    ]
    assert {f.why for f in found} == {"expired: it ended"}


SOUND = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""
WILDCARD = SOUND.replace("PLAINTEXT://kafka:9092", "PLAINTEXT://0.0.0.0:9092")
SAYS = "requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP"
ENDED = f"""
x-observed:
  stopped: {{kafka: "not running, exit code 1: {SAYS}"}}
  logs: {{kafka: ["starting", "java.lang.IllegalArgumentException: {SAYS}", "shutting down"]}}
"""


def files(text: str) -> str:
    return "  files:\n" + "".join(f"    {line}\n" for line in text.splitlines())


def places(finding: Finding) -> list[tuple[str, int | str]]:
    return [
        (at.path, at.line) if isinstance(at, FileLocation) else (at.container, at.part)
        for related in finding.related
        if isinstance(at := related.location, FileLocation | ContainerLocation)
    ]


def test_what_the_container_itself_predicts_is_that_finding_with_the_line_of_the_file() -> None:
    (finding,) = check_live(view_of(WILDCARD + ENDED + files(WILDCARD)))
    assert finding.rule == "advertised-wildcard"
    assert "the log confirms it: not running" in finding.related[-1].message
    # In these tests the container's place is a line of a file as well.
    assert isinstance(finding.location, FileLocation)


def test_what_only_the_file_predicts_leads_to_its_line() -> None:
    findings = check_live(view_of(SOUND + ENDED + files(WILDCARD)))
    crash = next(finding for finding in findings if finding.rule == "live-config-crash")
    assert crash.why.startswith("advertised-wildcard: ")
    assert places(crash) == [("now/compose.yml", 7)]
    assert "live-file-drift" in {finding.rule for finding in findings}


@pytest.mark.parametrize(
    ("declared", "place"),
    [("", [("kafka", "KAFKA_ADVERTISED_LISTENERS")]), (files(SOUND), [("now/compose.yml", 7)])],
)
def test_what_nothing_predicts_is_read_out_of_the_log(declared: str, place: list[tuple[str, int | str]]) -> None:
    (crash,) = check_live(view_of(SOUND + ENDED + declared))
    assert crash.rule == "live-config-crash"
    assert crash.why == ("the broker refuses advertised.listeners: advertised-wildcard or controller-wildcard-on-3.9.0")
    assert crash.hint == "follow `netdiag explain advertised-wildcard`, then start kafka again"
    assert places(crash) == place


def test_a_variable_that_is_missing_is_missing_at_the_service() -> None:
    text = SOUND + ENDED.replace(SAYS, "KAFKA_SSL_KEYSTORE_FILENAME is required.") + files(SOUND)
    (crash,) = check_live(view_of(text))
    assert places(crash) == [("now/compose.yml", 2)]
    assert crash.related[0].message == "KAFKA_SSL_KEYSTORE_FILENAME is not set here"


def test_the_sentence_may_stand_anywhere_in_the_log() -> None:
    view = view_of(WILDCARD + ENDED)
    view = replace(view, stopped={"kafka": "not running, exit code 1: java.lang.Error: something later"})
    assert [finding.rule for finding in check_live(view)] == ["advertised-wildcard"]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "a", "c"], "a, b and c"),
        (["a", "b", "c", "d", "e"], "a, b and 3 more"),
    ],
)
def test_a_list_stays_short(names: list[str], text: str) -> None:
    assert listed(names) == text


RUNS = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:9092", "127.0.0.1:9093:9093"]
    networks: [one]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_SSL_KEY_PASSWORD: hunter2
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
  app:
    image: alpine:3.20
    networks: [one]
    environment: {KAFKA_BOOTSTRAP_SERVERS: "kafka:9092", OTHER: a}
networks: {one: , two: }
"""
BEGIN = "kafka differs from its file: "


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (("7.9.2", "7.8.0"), "it runs 'confluentinc/cp-kafka:7.9.2', but the file has 'confluentinc/cp-kafka:7.8.0'"),
        (('"9092:9092", ', ""), "9092:9092 is published, but not in the file"),
        (('["9092:9092", ', '["9095:9092", "9092:9092", '), "9095:9092 is in the file, but not published"),
        (("networks: [one]\n    environment:", "networks: [one, two]\n    environment:"), "it is not on _two, which"),
        (
            ("networks: [one]\n    environment:", "network_mode: host\n    environment:"),
            "it runs with its own networks, but the",
        ),
        (("hunter2", "hunter3"), "KAFKA_SSL_KEY_PASSWORD is different in the file"),
        (("PLAINTEXT://kafka", "PLAINTEXT://broker"), "KAFKA_ADVERTISED_LISTENERS is 'PLAINTEXT://kafka:9092', but"),
        (("KAFKA_SSL_KEY", "KAFKA_BROKER_ID: 7\n      KAFKA_SSL_KEY"), "KAFKA_BROKER_ID is only in the file"),
    ],
)
def test_one_difference_is_one_finding(now: tuple[str, str], said: str) -> None:
    found = list(check(view_of(f"{RUNS}x-observed:\n  files:\n" + _indented(RUNS.replace(*now, 1)))))
    assert [finding.message.startswith(BEGIN + said) for finding in found] == [True], found
    assert "hunter" not in str(found)
    assert getattr(found[0].location, "path", None) == "now/compose.yml"
    assert found[0].hint == "run `docker compose up -d kafka`"


def test_nothing_differs() -> None:
    assert list(check(view_of(f"{RUNS}x-observed:\n  files:\n" + _indented(RUNS)))) == []


def test_a_client_s_list_and_a_broker_that_was_never_started() -> None:
    now = RUNS.replace('KAFKA_BOOTSTRAP_SERVERS: "kafka:9092", OTHER: a', 'KAFKA_BOOTSTRAP_SERVERS: "k:9092", OTHER: b')
    now = now.replace("  app:", "  kafka-2:\n    image: confluentinc/cp-kafka:7.9.2\n  app:")
    client, missing = check(view_of(f"{RUNS}x-observed:\n  files:\n" + _indented(now)))
    assert "KAFKA_BOOTSTRAP_SERVERS is 'kafka:9092', but the file has 'k:9092'" in client.message
    assert missing.message == "kafka-2 is in the file, but has no container"


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


_STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_LISTENERS: INTERNAL://:9092,EXTERNAL://:9093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,EXTERNAL://localhost:9093
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
  app:
    image: example/app:1
    environment:
      {client}: kafka:9092
x-observed:
  cells:
    - {cell}
"""
_FIRST = '{vantage: container app, bootstrap: "kafka:9092", fails: %s, because: seen}'
_SECOND = (
    '{vantage: container app, bootstrap: "kafka:9093", answers: {node: 1, listener: EXTERNAL},'
    ' told: [{node: 1, at: "localhost:9093", gives: %s}]}'
)
# The reasons that findings about addresses are made of; TLS and SASL have findings of their own.
_REASONS = (Reason.UNRESOLVED, Reason.REFUSED, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.CLOSED, Reason.NOT_KAFKA)
_RULES = tuple(rule for rule in OBSERVED if rule.ID != "live-differs-from-predicted")


def cause_of(mechanism: Mechanism) -> Cause:
    return Cause(
        mechanism=mechanism,
        certainty=Certainty.FOUND,
        because=f"because {mechanism}",
        evidence=(f"evidence {mechanism}",),
        repairs=(Repair(text=f"repair {mechanism}", confirmed=True, because="predicted"),),
    )


def findings(cell: str, cause: Cause, *, client: str = "UNRELATED") -> list[Finding]:
    view = view_of(_STACK.replace("{client}", client).replace("{cell}", cell))
    addresses = {Address(host=host, port=port) for host, port in (("kafka", 9092), ("localhost", 9093))}
    explained = [Explanation(vantage="container app", address=one, causes=(cause,)) for one in addresses]
    view = replace(view, causes=causes_of(view.cells, explained))
    return [finding for rule in _RULES for finding in rule.check(view)]


def concluded(item: Item) -> Reached:
    """What a playbook concludes from a thing that its step saw."""
    step = Step(id="s", title="t", action=ActionName.MATRIX)
    conclusion = Conclusion(
        id="c",
        when=There(step="s", of=item.of, where={}),
        confidence=Confidence.PROVEN,
        cause="another text",
        repair="another text",
    )
    playbook = Playbook(
        name="p", title="t", means="m", symptoms=(), variables={}, steps=(step,), conclusions=(conclusion,)
    )
    (reached,) = run(playbook, {}, lambda taken, arguments: Outcome(items=(item,)), live=True).reached
    return reached


@pytest.mark.parametrize("mechanism", Mechanism)
def test_all_say_the_same(mechanism: Mechanism) -> None:
    cause = cause_of(mechanism)
    explanation = Explanation(vantage="v", address=Address(host="h", port=1), causes=(cause,))
    screen = Screen()
    shown = paint(explained_lines([explanation], screen), screen)
    value = cause_value(cause)
    assert [value["because"], *value["evidence"], value["repairs"][0]["text"]] == [
        cause.because,
        *cause.evidence,
        cause.repair,
    ]
    assert all(text in shown for text in (cause.because, *cause.evidence, cause.repair))
    from_cause = concluded(cause_item(cause))
    assert (from_cause.cause, from_cause.repair) == (cause.because, cause.repair)
    for cell, client in [
        *((_FIRST % reason.value, "UNRELATED") for reason in _REASONS),
        *((_SECOND % reason.value, "UNRELATED") for reason in _REASONS),
        (_FIRST % "unresolved", "KAFKA_BOOTSTRAP_SERVERS"),
    ]:
        (finding,) = findings(cell, cause, client=client)
        assert cause.because in finding.why, cell
        assert all(line in finding.why for line in cause.evidence), cell
        assert finding.hint == cause.repair, cell
        of_finding = concluded(finding_item(finding))
        assert (of_finding.cause, of_finding.repair) == (finding.why, finding.hint)


@pytest.mark.parametrize("mechanism", Mechanism)
def test_a_look_at_the_machine_adds_evidence_to_what_the_model_says(
    mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = Address(host="kafka", port=9092)
    predicted = Failed(reason=Reason.REFUSED, because="as the model says", mechanism=mechanism, container="kafka")
    of_kernel = Suspect(mechanism=mechanism, because="as the kernel says", evidence=("what it shows",))
    connection = replace(failing(shop(), "client", "172.20.0.2", 9093), predicted=predicted)
    monkeypatch.setattr(find_causes_module, "_of_path", lambda connection, *, connects: of_kernel)
    (cause,) = find_causes_module.find_causes(connection)
    alone = predicted_cause(predicted, address)
    assert alone is not None
    assert cause.because == alone.because == "as the model says"
    assert cause.evidence[:2] == ("as the kernel says", "what it shows")


def test_the_model_has_a_repair_for_every_mechanism() -> None:
    assert set(REPAIRS) == set(Mechanism)
    for mechanism in Mechanism:
        text = predicted_repair(mechanism, Address(host="h", port=9), "c").text
        assert text
        assert "{" not in text


def test_what_nobody_looked_for_is_what_the_model_says() -> None:
    prediction = "prediction: {fails: unresolved, because: it stopped, mechanism: name-of-stopped}"
    cell = f"{(_FIRST % 'unresolved')[:-1]}, {prediction}}}"
    (found,) = causes_of(view_of(_STACK.replace("{client}", "X").replace("{cell}", cell)).cells).values()
    assert (found.because, found.evidence) == ("it stopped", ("seen",))
    assert found.mechanism is Mechanism.NAME_OF_STOPPED
    assert found.repair == "start the container; its log says why it ended"


STALE = """
x-observed:
  stopped: {kafka: "not running, exit code 1: Invalid cluster.id in: /data/meta.properties. Expected A, but read B"}
  registered:
    log:
      cluster: A
      brokers:
        1: {at: ["PLAINTEXT://kafka:9092"], fenced: true}
    nodes:
      kafka: {stopped: "not running", stored: {node: 1, cluster: B}}
"""


def test_what_the_registry_explains_of_a_stopped_broker_is_told_once() -> None:
    view = view_of(SOUND + STALE)
    assert view.registered is not None
    (finding,) = check_live(replace(view, registered=None), [view.registered])
    assert finding.rule == "live-cluster-id-differs"
    assert "the log confirms it: not running" in finding.related[-1].message
    (crash,) = check_live(replace(view, registered=None))
    assert crash.rule == "live-config-crash"


DRIFT = """
x-observed:
  cells:
    - vantage: inside kafka
      bootstrap: kafka:9092
      answers: {node: 1, listener: PLAINTEXT}
      told: [{node: 1, at: "kafka.example:9092", gives: ok}]
  registered:
    zookeeper:
      controller: 1
      brokers:
        1: {at: ["PLAINTEXT://kafka.example:9092"]}
    nodes:
      kafka: {now: {node: 1}}
"""


def test_what_metadata_shows_is_not_told_of_the_registry_again() -> None:
    view = view_of(SOUND + DRIFT)
    assert view.registered is not None
    assert [one.rule for one in check_registered(view)] == ["live-registered-endpoint"]
    (drift,) = check_live(replace(view, registered=None), [view.registered])
    assert drift.rule == "live-advertised-drift"


def test_what_testcontainers_advertises_to_brokers_is_not_for_the_docker_host() -> None:
    text = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    network_mode: bridge
    hostname: f00dfeed0001
    ports: ["32771:9092"]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,BROKER://0.0.0.0:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:32771,BROKER://f00dfeed0001:9093
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: BROKER
x-observed:
  cells:
    - {vantage: docker host, bootstrap: "f00dfeed0001:9093", fails: unresolved}
"""
    told = {finding.rule for finding in check_live(view_of(text))}
    assert "live-bootstrap-dns" in told
    assert "live-bootstrap-dns" not in {f.rule for f in check_live(view_of(text + "  testcontainers: java\n"))}


REDPANDA = """\
services:
  redpanda:
    image: redpandadata/redpanda:v24.2.7
    ports: ["32771:9092"]
    command: >-
      redpanda start --kafka-addr PLAINTEXT://0.0.0.0:29092,OUTSIDE://0.0.0.0:9092
      --advertise-kafka-addr PLAINTEXT://127.0.0.1:29092,OUTSIDE://localhost:32771
  app: {image: app, environment: {KAFKA_BOOTSTRAP_SERVERS: "redpanda:9092"}}
x-observed:
  cells:
    - vantage: container app
      bootstrap: redpanda:9092
      answers: {node: 0, listener: OUTSIDE}
      told: [{node: 0, at: "localhost:32771", gives: refused}]
"""


@pytest.mark.parametrize(
    ("library", "hint"),
    [
        ("java", 'add .withListener(() -> "redpanda:19092") and let containers use redpanda:19092'),
        ("go", 'add redpanda.WithListener("redpanda:19092") and let containers use redpanda:19092'),
        (
            "python",
            "Testcontainers for Python gives Redpanda no listener for containers: start it as a generic",
        ),
    ],
)
def test_what_helps_redpanda_is_in_the_words_of_the_library(library: str, hint: str) -> None:
    found = check_live(view_of(REDPANDA + f"  testcontainers: {library}\n"))
    (finding,) = [one for one in found if one.rule == "live-testcontainers-listener"]
    assert (finding.hint or "").startswith(hint)
