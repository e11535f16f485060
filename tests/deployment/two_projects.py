"""Two projects made from one template, as the engine lists their containers."""

from dataclasses import replace

from netdiag.engine.container import Container
from tests.deployment.test_engine_source import attached, container, network

NETWORKS = (network("shared"), network("a_default"), network("b_default"), network("bridge", default=True))


def broker(project: str, number: int, on: str = "shared", **changes: object) -> Container:
    """The broker `kafka` of a project; `number` ends its address."""
    made = container(
        f"{project}-kafka-1",
        environment={
            "KAFKA_NODE_ID": "1",
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:9093",
            "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
            "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        },
        labels=labels(project, "kafka"),
        hostname="",
        network_mode=on,
        networks=(attached(on, f"172.18.0.{number}", ("kafka",)),),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def app(project: str, number: int, on: str = "shared") -> Container:
    """A client of that project."""
    made = alone(f"{project}-app-1", on, number)
    bootstrap = {"KAFKA_BOOTSTRAP_SERVERS": "kafka:9092"}
    return replace(made, environment=bootstrap, labels=labels(project, "app"))


def alone(name: str, on: str, number: int = 99) -> Container:
    """A container of no project that has nothing to do with Kafka."""
    return container(
        name,
        image="app",
        entrypoint=(),
        command=("app",),
        environment={},
        labels={},
        hostname="",
        network_mode=on,
        networks=(attached(on, f"172.18.0.{number}", ("app",)),),
    )


def labels(project: str, service: str) -> dict[str, str]:
    """What compose writes on a container."""
    return {"com.docker.compose.project": project, "com.docker.compose.service": service}


SHARED = (broker("a", 2), app("a", 3), broker("b", 4), app("b", 5))
SEPARATE = (
    broker("a", 2, "a_default"),
    app("a", 3, "a_default"),
    broker("b", 2, "b_default"),
    app("b", 3, "b_default"),
)
