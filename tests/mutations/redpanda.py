"""Redpanda, whose listeners are flags of its command: correct stacks and their defects."""

from collections.abc import Iterable

from tests.mutations.defect import B1, B2, Defect, Make, defect
from tests.mutations.stack import Place, Service, Stack

COMMAND = "command"


def redpanda(count: int) -> Stack:
    """Brokers with a listener for containers and one for the docker host, and a client."""
    names = tuple(f"kafka-{number}" for number in range(1, count + 1))
    services: dict[str, Service] = {}
    for number, name in enumerate(names, start=1):
        port = 19091 + number
        flags = (
            "redpanda",
            "start",
            "--kafka-addr=internal://0.0.0.0:29092,external://0.0.0.0:" + str(port),
            f"--advertise-kafka-addr=internal://{name}:29092,external://localhost:{port}",
            f"--node-id={number - 1}",
            f"--seeds={B1}:33145",
        )
        words = ", ".join(f'"{flag}"' for flag in flags)
        services[name] = Service(
            image="docker.redpanda.com/redpandadata/redpanda:v24.2.4",
            ports=[f"{port}:{port}"],
            keys={COMMAND: f"[{words}]"},
        )
    services["app"] = Service(image="example/app:1.0", environment={"KAFKA_BOOTSTRAP_SERVERS": f"{B1}:29092"})
    return Stack(name=f"redpanda-{count}", family="redpanda", prefix="", services=services, brokers=names)


def _swap(old: str, new: str, service: str = B1) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        command = stack.services[service].keys[COMMAND]
        assert old in command
        stack.services[service].keys[COMMAND] = command.replace(old, new)
        return [(service, COMMAND)]

    return make


def _port(before: str, after: str | None, place: Place | None = None) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        changed = stack.port(B1, before, after)
        return [place or changed]

    return make


def _app(value: str) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        stack.services["app"].environment["KAFKA_BOOTSTRAP_SERVERS"] = value
        return [("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")]

    return make


def _has_peers(stack: Stack) -> bool:
    return stack.has_peers


def _nobody_there(stack: Stack) -> Iterable[Place]:
    stack.services[B1].ports.append("9993:9993")
    return [(B1, "ports", "1")]


PUBLISHED = "19092:19092"
BASES: dict[str, Stack] = {stack.name: stack for stack in (redpanda(1), redpanda(3))}

DEFECTS: tuple[Defect, ...] = (
    defect("redpanda-listener-mismatch", "other-name", _swap("=internal://kafka-1", "=inside://kafka-1")),
    defect("advertised-wildcard", "external", _swap("external://localhost", "external://0.0.0.0")),
    defect("advertised-internal-name-for-host", "external", _swap("external://localhost", f"external://{B1}")),
    defect("advertised-loopback-for-remote-clients", "internal-too", _swap(f"internal://{B1}", "internal://localhost")),
    defect("advertised-host-unknown", "typo", _swap(f"internal://{B1}", "internal://kafka-one")),
    defect("advertised-port-not-published", "unpublished", _port(PUBLISHED, None, (B1, COMMAND))),
    defect("advertised-port-differs-from-published", "other", _port(PUBLISHED, "9993:19092", (B1, COMMAND))),
    defect("published-port-without-listener", "nobody-there", _nobody_there),
    defect("listener-bound-to-loopback", "internal", _swap("internal://0.0.0.0", "internal://127.0.0.1")),
    defect(
        "duplicate-advertised-endpoint", "copied", _swap(f"internal://{B2}", f"internal://{B1}", B2), where=_has_peers
    ),
    defect("dependent-bootstrap-localhost", "localhost", _app("localhost:19092")),
    defect("dependent-bootstrap-wrong-port", "nobody-there", _app(f"{B1}:9092")),
    defect("dependent-bootstrap-external-listener", "host-listener", _app(f"{B1}:19092")),
    defect("dependent-bootstrap-unknown-host", "typo", _app("redpanda:29092")),
)
