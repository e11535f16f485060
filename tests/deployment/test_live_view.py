"""What a live check sees: secured ports, vantages that can be taken, brokers that do not run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.vantage import VantageKind, vantages
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    Contact,
    Failed,
    NodeEndpoint,
    Reason,
    Unknown,
    judge,
)
from netdiag.deployment.observation.live_view import (
    SecuredPort,
    StoppedContainer,
    combined,
    container_vantages,
    decisive_line,
    docker_host_vantage,
    is_down,
    netns_vantage,
    secured_ports,
    starting_brokers,
    stopped_container,
)
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.engine import from_engine, member_names
from netdiag.engine.container import ContainerState, Status
from netdiag.kafka.security import Certificate, CertificateFault, ListenerSecurity, SpokenProtocol, TlsHandshake
from netdiag.linux.netns import NamedNamespace, OwnNamespace, ProcessNamespace
from tests.deployment.test_engine_source import EXITED, NETWORKS, attached, container, network

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DEPLOYMENT = from_compose(
    load(
        Source(
            "c.yml",
            """
services:
  kafka:
    image: apache/kafka:3.9.1
    ports: ["9094:9094"]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_LISTENERS: INTERNAL://:9092,SECURE://:9094,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,SECURE://broker.example:9094
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,SECURE:SSL,CONTROLLER:PLAINTEXT
""",
        )
    )
)
CERTIFICATE = Certificate(
    subject="CN=kafka",
    issuer="CN=Root",
    common_name="kafka",
    names=("localhost",),
    addresses=(),
    not_before=NOW - timedelta(days=1),
    not_after=NOW + timedelta(days=5),
    key="RSA 2048",
    key_bits=2048,
    signature="sha256WithRSAEncryption",
    is_authority=False,
    fingerprint="0" * 64,
)
SOON = (CertificateFault.EXPIRES_SOON, "it expires")
TLS = TlsHandshake(
    versions=("TLSv1.3",), cipher="X", chain=(CERTIFICATE,), wants_client=False, needs_client=False, faults=(SOON,)
)
SEEN = SecuredPort(
    vantage="docker host",
    address=Address(host="localhost", port=9094),
    sight=ListenerSecurity(spoken=SpokenProtocol.SSL, tls=TLS),
)


def test_a_port_is_its_listeners_and_is_held_against_the_advertised_name() -> None:
    asked, unasked = secured_ports(DEPLOYMENT, vantages(DEPLOYMENT), [SEEN], now=NOW)
    assert (asked.member, asked.listener, asked.sight) == ("kafka", "SECURE", SEEN.sight)
    assert (unasked.member, unasked.listener, str(unasked.address)) == ("kafka", "SECURE", "broker.example:9094")
    assert unasked.sight.detail == "seen at localhost:9094"
    assert unasked.sight.tls is not None
    assert unasked.sight.tls.faults == (
        (CertificateFault.NAME, '"broker.example" is not among its names: localhost'),
        SOON,
    )


def test_a_name_that_was_asked_for_is_not_told_twice() -> None:
    other = replace(SEEN, address=Address(host="broker.example", port=9094), member="kafka", listener="SECURE")
    found = secured_ports(DEPLOYMENT, vantages(DEPLOYMENT), [SEEN, other], now=NOW)
    assert [str(port.address) for port in found] == ["localhost:9094", "broker.example:9094"]


def test_a_port_of_nobody_shown_stays_as_it_is() -> None:
    strange = replace(SEEN, address=Address(host="elsewhere.example", port=1), vantage="nowhere")
    assert secured_ports(DEPLOYMENT, vantages(DEPLOYMENT), [strange], now=NOW) == (strange,)


def test_inside_each_running_container_brokers_first() -> None:
    ui = container("a-ui", image="ui", labels={}, state=replace(container().state, pid=8))
    far = container("far", image="ui", labels={}, networks=(attached("other"),), network_mode="other")
    gone = container("gone", labels={}, state=EXITED)
    containers = (ui, container(), far, gone)
    deployment = from_engine(containers, (*NETWORKS, network("other")))
    vantages = container_vantages(deployment, containers, member_names(containers))
    assert [(s.vantage.kind, s.vantage.label, s.vantage.member) for s in vantages] == [
        (VantageKind.BROKER, "inside broker-1", "broker-1"),
        (VantageKind.CONTAINER, "container a-ui", "a-ui"),
        (VantageKind.OTHER_NETWORK, "container far", "far"),
    ]
    assert vantages[1].entrance == ProcessNamespace(pid=8, container_id=ui.id)
    assert vantages[2].vantage.networks == ("other",)


def test_the_others() -> None:
    assert docker_host_vantage().entrance == OwnNamespace()
    assert netns_vantage("lan").entrance == NamedNamespace(name="lan")
    assert netns_vantage("lan").vantage.kind is VantageKind.LAN


THROWN = "Exception in thread main java.lang.IllegalArgumentException: requirement failed:"
REQUIRED = "KAFKA_ADVERTISED_LISTENERS is required."
BIND = "Socket server failed to bind to 192.168.8.133:9094: Cannot assign requested address."
LOG = [
    "[2026-01-01 10:00:00,000] INFO Awaiting socket connections on 0.0.0.0:29092. (kafka.network.DataPlaneAcceptor)",
    "[2026-01-01 10:00:01,000] WARN [Controller 1] Connection to node 3 could not be established. (x)",
    f"[2026-01-01 10:00:02,000] ERROR [KafkaServer id=4] Fatal error during startup. {BIND}",
    "\tat kafka.network.Acceptor.openServerSocket(SocketServer.scala:735)",
    "Caused by: java.net.BindException: Cannot assign requested address",
    "\t... 12 more",
    "[2026-01-01 10:00:03,000] INFO shut down completed (kafka.server.KafkaServer)",
]


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (LOG, LOG[2]),
        (["===> User", REQUIRED, "Command [dub ensure X] FAILED !"], REQUIRED),
        (["a", f"{THROWN} x"], f"{THROWN} x"),
        (["INFO fine", "java.io.IOException: disk on fire", "INFO more"], "java.io.IOException: disk on fire"),
        (["x ERROR first", "x ERROR second"], "x ERROR second"),
        (["INFO fine"], None),
        ([], None),
    ],
)
def test_the_line_that_says_why(log: list[str], expected: str | None) -> None:
    assert decisive_line(log) == expected


def state(status: Status, exit_code: int = 1, *, oom: bool = False, error: str = "") -> ContainerState:
    return ContainerState(status=status, pid=0, exit_code=exit_code, oom_killed=oom, error=error)


@pytest.mark.parametrize(
    ("status", "down"),
    [
        (Status.EXITED, True),
        (Status.RESTARTING, True),
        (Status.CREATED, True),
        (Status.DEAD, True),
        (Status.RUNNING, False),
        (Status.PAUSED, False),
    ],
)
def test_what_is_down(status: Status, down: bool) -> None:
    assert is_down(container(state=state(status))) is down


def test_an_exited_broker() -> None:
    found = stopped_container(container(state=state(Status.EXITED)), LOG)
    assert found == StoppedContainer(
        container="p-broker-1-1", exit_code=1, oom_killed=False, crash_looping=False, line=LOG[2]
    )
    assert str(found) == f"not running, exit code 1: {LOG[2]}"


def test_a_crash_loop_and_a_kill() -> None:
    assert str(stopped_container(container(state=state(Status.RESTARTING)), [])) == "keeps restarting, last exit code 1"
    assert "(out of memory)" in str(stopped_container(container(state=state(Status.EXITED, 137, oom=True)), []))


@pytest.mark.parametrize(
    ("health", "started", "listening", "expected"),
    [
        ("starting", "2026-05-31T20:00:00Z", [9093], "its health check says starting"),
        ("", "2026-05-31T23:59:30.123456789Z", [9093], "it was started less than 60 seconds ago"),
        ("", "2026-05-31T23:58:30.123456789Z", [9093], None),
        ("", "yesterday", [], None),
        ("unhealthy", "2026-05-31T23:59:30Z", [], None),
        ("starting", "2026-05-31T23:59:30Z", [9092], None),
        ("starting", "2026-05-31T23:59:30Z", None, None),
    ],
)
def test_a_broker_that_is_not_up_yet(
    health: str, started: str, listening: list[int] | None, expected: str | None
) -> None:
    runs = container(state=replace(state(Status.RUNNING, 0), pid=7, started_at=started, health=health))
    ports = {} if listening is None else {"kafka": listening}
    found = starting_brokers(DEPLOYMENT, {"kafka": runs}, ports, now=NOW)
    assert found == ({} if expected is None else {"kafka": expected})


def test_what_differs_between_looks_is_a_share_of_them() -> None:
    address = Address(host="kafka", port=9092)
    good = Answered(node_id=1, cluster_id="c", brokers=(NodeEndpoint(node_id=1, host="kafka", port=9092),))
    bad = Failed(reason=Reason.REFUSED, because="nobody listens")

    def seen(vantage: str, contact: Contact) -> Cell:
        return Cell(vantage=vantage, bootstrap=address, observed=judge(contact, lambda _: contact))

    def look(*contacts: Contact) -> tuple[Cell, ...]:
        return tuple(seen(f"v{n}", contact) for n, contact in enumerate(contacts))

    out_of_time = Unknown(because="out of time")
    cells, flapping = combined([look(good, good, bad), look(bad, good, bad), look(good, out_of_time)])
    assert [str(cell.observed) for cell in cells] == ["bootstrap: refused", "ok", "bootstrap: refused"]
    (one,) = flapping
    assert (one.vantage, one.verdicts) == ("v0", (("bootstrap: refused", 1), ("ok", 2)))
    assert one.because == "nobody listens"


def test_one_that_was_stopped_has_no_fault_to_find() -> None:
    assert stopped_container(container(state=state(Status.EXITED, 143)), LOG).line is None


def test_one_that_the_engine_could_not_start() -> None:
    error = "driver failed programming external connectivity: port is already allocated"
    assert stopped_container(container(state=state(Status.CREATED, 128, error=error)), []).line == error
