"""Edges of the rules about replicas, storage, shared networks, placeholders and hosts entries."""

import pytest

from netdiag.findings import Severity
from tests.rules.test_edges import cp, found

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def loud(text: str) -> dict[str, Severity]:
    return {rule: severity for rule, severity in found(text).items() if severity is not Severity.NOTE}


def broker(
    name: str, number: int | None, *keys: str, port: int = 9092, image: str = "confluentinc/cp-kafka:7.9.2"
) -> str:
    lines = [f"  {name}:", f"    image: {image}", *(f"    {key}" for key in keys), "    environment:"]
    if number is not None:
        lines.append(f"      KAFKA_BROKER_ID: {number}")
    lines += [
        "      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181",
        f"      KAFKA_LISTENERS: PLAINTEXT://:{port}",
        f"      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://{name}:{port}",
    ]
    return "\n".join(lines) + "\n"


def services(*texts: str) -> str:
    return "name: t\nservices:\n" + "".join(texts)


@pytest.mark.parametrize(
    ("number", "keys", "expected"),
    [
        (1, ("scale: 2",), {"replicas-share-endpoint": ERROR}),
        (None, ("scale: 2",), {"replicas-share-endpoint": ERROR}),
        (-1, ("deploy: {replicas: 2}",), {"replicas-share-endpoint": ERROR}),
        (1, ("scale: 1",), {}),
        (1, ("deploy: {replicas: 1}",), {}),
    ],
)
def test_replicas(number: int | None, keys: tuple[str, ...], expected: dict[str, Severity]) -> None:
    assert loud(services(broker("kafka", number, *keys))) == expected


def test_replicas_whose_values_are_made_at_start_are_told_nothing() -> None:
    text = services(broker("kafka", None, "scale: 2")).replace("PLAINTEXT://kafka:9092", "PLAINTEXT://:9092")
    assert "replicas-share-endpoint" not in found(text)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("[data:/var/lib/kafka/data]", "[data:/var/lib/kafka/data]", {"shared-data-volume": ERROR}),
        ("[./data:/var/lib/kafka]", "[data/:/var/lib/kafka]", {}),
        ("[./data:/var/lib/kafka]", "[./data/:/var/lib/kafka]", {"shared-data-volume": ERROR}),
        # other folders of one thing
        ("[./a:/var/lib/kafka/data]", "[./b:/var/lib/kafka/data]", {}),
        ("[data:/var/lib/kafka/data]", "[data:/var/lib/kafka]", {}),
        ("[data:/var/lib/kafka/data]", "[data:/secrets]", {}),
        # something else lies over it
        ("[data:/var/lib/kafka, one:/var/lib/kafka/data]", "[data:/var/lib/kafka, two:/var/lib/kafka/data]", {}),
        (
            "[{type: volume, source: data, target: /var/lib/kafka/data, volume: {subpath: a}}]",
            "[{type: volume, source: data, target: /var/lib/kafka/data, volume: {subpath: b}}]",
            {},
        ),
        ("[{type: tmpfs, target: /var/lib/kafka/data}]", "[{type: tmpfs, target: /var/lib/kafka/data}]", {}),
        ("[/var/lib/kafka/data]", "[/var/lib/kafka/data]", {}),
    ],
)
def test_storage(first: str, second: str, expected: dict[str, Severity]) -> None:
    text = services(broker("kafka-1", 1, f"volumes: {first}"), broker("kafka-2", 2, f"volumes: {second}"))
    assert loud(text + "volumes: {data: , one: , two: }\n") == expected


def test_storage_of_another_folder_than_the_image_s() -> None:
    keys = ("volumes: [data:/data]",)
    text = services(broker("kafka-1", 1, *keys), broker("kafka-2", 2, *keys)) + "volumes: {data: }\n"
    assert loud(text) == {}
    inside = text.replace("KAFKA_BROKER_ID: ", "KAFKA_LOG_DIRS: /data\n      KAFKA_BROKER_ID: ")
    assert loud(inside) == {"shared-data-volume": ERROR}
    assert loud(inside.replace("/data\n      KAFKA_BROKER_ID: 1", "/data/1\n      KAFKA_BROKER_ID: 1")) == {}


@pytest.mark.parametrize(
    ("first", "second", "clashes"),
    [
        ("9092:9092", "9092:9092", True),
        ("127.0.0.1:9092:9092", "9092:9092", True),
        ("9092:9092", "127.0.0.1:9092:9092", True),
        ("127.0.0.1:9092:9092", "127.0.0.2:9092:9092", False),
        ("9092:9092", "9092:9092/udp", False),
    ],
)
def test_one_port_of_the_host_for_two(first: str, second: str, clashes: bool) -> None:
    kafka = broker("kafka", 1, f'ports: ["{first}"]')
    other = f'  ui:\n    image: example/ui\n    ports: ["{second}"]\n'
    assert ("duplicate-host-port" in found(services(kafka, other))) is clashes
    assert ("duplicate-host-port" in found(services(other, kafka))) is clashes


def test_one_port_of_the_host_for_two_that_are_no_brokers_is_not_kafkas() -> None:
    others = (f'  {name}:\n    image: example/ui\n    ports: ["8080:80"]\n' for name in ("one", "two"))
    assert "duplicate-host-port" not in found(services(broker("kafka", 1), *others))


HOST = "network_mode: host"
NETWORK_RULE = "network-mode-none-or-shared"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((broker("kafka", 1, "network_mode: none", 'ports: ["9092:9092"]'),), WARNING),
        ((broker("kafka", 1, "network_mode: none"),), None),
        ((broker("kafka", 1, "network_mode: container:x", 'ports: ["9092:9092"]'),), ERROR),
        ((broker("kafka", 1, "network_mode: container:x", "hostname: k"),), ERROR),
        ((broker("kafka", 1, "network_mode: container:x"),), None),
        ((broker("kafka", 1), broker("other", 2, "network_mode: service:kafka")), ERROR),
        ((broker("kafka", 1), broker("other", 2, "network_mode: service:kafka", port=9093)), None),
        ((broker("kafka", 1, HOST), broker("other", 2, HOST)), ERROR),
        ((broker("kafka", 1, HOST), broker("other", 2, HOST, port=9093)), None),
        ((broker("kafka", 1), broker("other", 2)), None),
    ],
)
def test_networks_of_nobody_and_of_others(texts: tuple[str, ...], expected: Severity | None) -> None:
    assert found(services(*texts)).get(NETWORK_RULE) is expected


@pytest.mark.parametrize(
    ("host", "extra", "expected"),
    [
        ("MY_EXTERNAL_IP", "", {"advertised-placeholder": WARNING}),
        ("<your-ip>", "", {"advertised-placeholder": ERROR}),
        ("my-kafka", "", {"advertised-host-unknown": WARNING}),
        # whatever it looks like, a container has it
        ("MY_HOST", "    container_name: MY_HOST", {}),
        ("MY_HOST", '    extra_hosts: ["MY_HOST:10.0.0.1"]', {}),
    ],
)
def test_placeholders(host: str, extra: str, expected: dict[str, Severity]) -> None:
    lists = f"KAFKA_LISTENERS: PLAINTEXT://:9092\nKAFKA_ADVERTISED_LISTENERS: PLAINTEXT://{host}:9092"
    assert loud(cp(lists, extra=extra)) == expected


APP = "  app:\n    image: example/app:1\n    environment:\n      KAFKA_BROKERS: {brokers}\n"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('extra_hosts: ["kafka:127.0.0.1"]', {"hostname-loopback": ERROR}),
        ('extra_hosts: ["kafka:10.0.0.1"]', {}),
        ('extra_hosts: ["other:127.0.0.1"]', {}),
    ],
)
def test_hosts_entries_of_a_client(keys: str, expected: dict[str, Severity]) -> None:
    app = APP.format(brokers="kafka:9092").replace("    environment", f"    {keys}\n    environment")
    assert loud(services(broker("kafka", 1), app)) == expected


def test_on_the_docker_host_the_same_entry_is_right() -> None:
    app = APP.format(brokers="kafka:9092").replace(
        "    environment", f'    extra_hosts: ["kafka:127.0.0.1"]\n    {HOST}\n    environment'
    )
    assert "hostname-loopback" not in found(services(broker("kafka", 1, 'ports: ["9092:9092"]'), app))
