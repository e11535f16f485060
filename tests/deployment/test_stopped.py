"""Why brokers do not run."""

import pytest

from netdiag.deployment.observation.live_view import StoppedContainer, decisive_line, is_down, stopped_container
from netdiag.engine.container import ContainerState, Status
from tests.deployment.test_from_engine import container

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


def test_one_that_was_stopped_has_no_fault_to_find() -> None:
    assert stopped_container(container(state=state(Status.EXITED, 143)), LOG).line is None


def test_one_that_the_engine_could_not_start() -> None:
    error = "driver failed programming external connectivity: port is already allocated"
    assert stopped_container(container(state=state(Status.CREATED, 128, error=error)), []).line == error
