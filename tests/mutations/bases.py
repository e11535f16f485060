"""The correct stacks: image families, one broker and three, ZooKeeper, KRaft combined and isolated, TLS and SASL."""

from dataclasses import dataclass

from tests.mutations.stack import Service, Stack

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
MAP = "INTERNAL:PLAINTEXT,HOST:PLAINTEXT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image and what its family calls things."""

    family: str
    reference: str
    prefix: str
    cluster: str
    zookeeper: str = ""
    extra: tuple[tuple[str, str], ...] = ()


APACHE = Image(family="apache", reference="apache/kafka:4.1.0", prefix="KAFKA_", cluster="CLUSTER_ID")
APACHE_3 = Image(family="apache", reference="apache/kafka:3.9.1", prefix="KAFKA_", cluster="CLUSTER_ID")
CONFLUENT_7 = Image(
    family="confluent",
    reference="confluentinc/cp-kafka:7.9.2",
    prefix="KAFKA_",
    cluster="CLUSTER_ID",
    zookeeper="confluentinc/cp-zookeeper:7.9.2",
)
CONFLUENT_8 = Image(family="confluent", reference="confluentinc/cp-kafka:8.0.0", prefix="KAFKA_", cluster="CLUSTER_ID")
BITNAMI = Image(
    family="bitnami", reference="bitnamilegacy/kafka:3.9.0", prefix="KAFKA_CFG_", cluster="KAFKA_KRAFT_CLUSTER_ID"
)
BITNAMI_OLD = Image(
    family="bitnami",
    reference="bitnamilegacy/kafka:3.4.1",
    prefix="KAFKA_CFG_",
    cluster="KAFKA_KRAFT_CLUSTER_ID",
    zookeeper="bitnamilegacy/zookeeper:3.8.4",
    extra=(("ALLOW_PLAINTEXT_LISTENER", "yes"), ("KAFKA_ENABLE_KRAFT", "no")),
)
WURSTMEISTER = Image(
    family="wurstmeister",
    reference="wurstmeister/kafka:2.13-2.8.1",
    prefix="KAFKA_",
    cluster="",
    zookeeper="wurstmeister/zookeeper",
)


def _app(image: str = "example/app:1.0") -> Service:
    return Service(image=image, environment={"KAFKA_BOOTSTRAP_SERVERS": "kafka-1:29092"})


def _listeners(stack: Stack, name: str, number: int) -> None:
    port = 19091 + number
    stack.put(name, "listeners", f"INTERNAL://:29092,HOST://:{port}")
    stack.put(name, "advertised.listeners", f"INTERNAL://{name}:29092,HOST://localhost:{port}")
    stack.put(name, "listener.security.protocol.map", MAP)
    stack.put(name, "inter.broker.listener.name", "INTERNAL")
    stack.services[name].ports.append(f"{port}:{port}")


def zookeeper(image: Image, count: int) -> Stack:
    """Brokers that coordinate through one ZooKeeper."""
    keeper = Service(image=image.zookeeper)
    if image.family == "confluent":
        keeper.environment["ZOOKEEPER_CLIENT_PORT"] = "2181"
    if image.family == "bitnami":
        keeper.environment["ALLOW_ANONYMOUS_LOGIN"] = "yes"
    names = tuple(f"kafka-{number}" for number in range(1, count + 1))
    stack = _stack(image, f"{image.family}-zookeeper-{count}", {"zookeeper": keeper}, names)
    for number, name in enumerate(names, start=1):
        stack.put(name, "broker.id", str(number))
        stack.put(name, "zookeeper.connect", "zookeeper:2181")
        _listeners(stack, name, number)
    return stack


def combined(image: Image, count: int, *, label: str = "combined") -> Stack:
    """Nodes that are broker and controller at once."""
    names = tuple(f"kafka-{number}" for number in range(1, count + 1))
    stack = _stack(image, f"{image.family}-{label}-{count}", {}, names, controllers=names)
    voters = ",".join(f"{number}@{name}:9093" for number, name in enumerate(names, start=1))
    for number, name in enumerate(names, start=1):
        if not (image.family == "apache" and count == 1):
            stack.services[name].environment[image.cluster] = CLUSTER_ID
        stack.put(name, "node.id", str(number))
        stack.put(name, "process.roles", "broker,controller")
        stack.put(name, "controller.quorum.voters", voters)
        stack.put(name, "controller.listener.names", "CONTROLLER")
        _listeners(stack, name, number)
        stack.change(name, "listeners", lambda value: value + ",CONTROLLER://:9093")
        stack.change(name, "listener.security.protocol.map", lambda value: value + ",CONTROLLER:PLAINTEXT")
    return stack


def isolated(image: Image) -> Stack:
    """Three controllers beside three brokers."""
    keepers = tuple(f"controller-{number}" for number in range(1, 4))
    names = tuple(f"kafka-{number}" for number in range(1, 4))
    services = {name: Service(image=image.reference) for name in keepers}
    stack = _stack(image, f"{image.family}-isolated", services, names, controllers=keepers)
    voters = ",".join(f"{number}@{name}:9093" for number, name in enumerate(keepers, start=1))
    for number, name in enumerate((*keepers, *names), start=1):
        stack.services[name].environment[image.cluster] = CLUSTER_ID
        stack.put(name, "node.id", str(number))
        stack.put(name, "process.roles", "controller" if name in keepers else "broker")
        stack.put(name, "controller.quorum.voters", voters)
        stack.put(name, "controller.listener.names", "CONTROLLER")
        if name in keepers:
            stack.put(name, "listeners", "CONTROLLER://:9093")
            stack.put(name, "listener.security.protocol.map", "CONTROLLER:PLAINTEXT")
    for number, name in enumerate(names, start=1):
        _listeners(stack, name, number)
        stack.change(name, "listener.security.protocol.map", lambda value: value + ",CONTROLLER:PLAINTEXT")
    return stack


def secure() -> Stack:
    """One Confluent node that speaks TLS to the docker host and SASL over TLS to containers."""
    stack = combined(CONFLUENT_7, 1, label="secure")
    stack.put("kafka-1", "listener.security.protocol.map", "INTERNAL:SASL_SSL,HOST:SSL,CONTROLLER:PLAINTEXT")
    stack.services["kafka-1"].environment |= {
        "KAFKA_SSL_KEYSTORE_LOCATION": "/etc/kafka/secrets/kafka.p12",
        "KAFKA_SSL_KEYSTORE_PASSWORD": "example",
        "KAFKA_SASL_ENABLED_MECHANISMS": "SCRAM-SHA-512",
        "KAFKA_SASL_MECHANISM_INTER_BROKER_PROTOCOL": "SCRAM-SHA-512",
        "KAFKA_OPTS": "-Djava.security.auth.login.config=/etc/kafka/secrets/jaas.conf",
    }
    stack.services["app"].environment |= {
        "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
    }
    return stack


def _stack(
    image: Image, name: str, services: dict[str, Service], brokers: tuple[str, ...], controllers: tuple[str, ...] = ()
) -> Stack:
    nodes = {broker: Service(image=image.reference) for broker in brokers}
    for node in nodes.values():
        node.environment |= dict(image.extra)
    return Stack(
        name=name,
        family=image.family,
        prefix=image.prefix,
        services={**services, **nodes, "app": _app()},
        brokers=brokers,
        controllers=controllers,
    )


BASES: dict[str, Stack] = {
    stack.name: stack
    for stack in (
        combined(APACHE, 1),
        combined(APACHE, 3),
        isolated(APACHE_3),
        zookeeper(CONFLUENT_7, 1),
        zookeeper(CONFLUENT_7, 3),
        combined(CONFLUENT_7, 1),
        combined(CONFLUENT_8, 3),
        isolated(CONFLUENT_7),
        secure(),
        zookeeper(BITNAMI_OLD, 1),
        zookeeper(BITNAMI_OLD, 3),
        combined(BITNAMI, 1),
        combined(BITNAMI, 3),
        isolated(BITNAMI),
        zookeeper(WURSTMEISTER, 1),
        zookeeper(WURSTMEISTER, 3),
    )
}
