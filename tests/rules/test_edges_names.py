"""Edges of the rules about listener names, the protocol map and which node is told what."""

import pytest

from netdiag.findings import Severity
from tests.rules.test_edges import cp, found
from tests.rules.test_edges_core import kraft, node, prints, repaired, serious

ODD = {"listener-name-odd": Severity.ERROR}
UNMAPPED = {"listener-name-unmapped": Severity.ERROR}
DROPPED = {"protocol-map-drops-defaults": Severity.ERROR}
MAP = {"KAFKA_INTER_BROKER_LISTENER_NAME": "A", "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "A:PLAINTEXT,B:PLAINTEXT"}


def zookeeper(**environment: str) -> str:
    return cp("\n".join(f"{name}: '{value}'" for name, value in environment.items()))


@pytest.mark.parametrize(
    ("listeners", "expected", "prints_name"),
    [
        ("A://:1;B://:2", ODD, "A://:1;B"),
        ("A://:1 ; B://:2", ODD, "A://:1 ; B"),
        ("A://:1 B://:2", ODD, "A://:1 B"),
        ("A ://:1,B://:2", ODD, "A "),
        ("A://http://:1,B://:2", ODD, "A://HTTP"),
        # an odd name that is unknown as well is told once
        ("C ://:1,A://:2,B://:3", ODD, "C "),
        # not odd, but unknown
        ("A://:1,B://:2,C://:3", UNMAPPED, "C"),
        # these are fine: blanks around the comma, lower case
        ("A://:1 , b://:2", {}, None),
    ],
)
def test_what_ends_up_in_a_name(listeners: str, expected: dict[str, Severity], prints_name: str | None) -> None:
    text = zookeeper(KAFKA_LISTENERS=listeners, KAFKA_ADVERTISED_LISTENERS="A://kafka:1,B://kafka:2", **MAP)
    assert serious(text) == expected
    assert prints(text) == ({f"No security protocol defined for listener {prints_name}"} if prints_name else set())


@pytest.mark.parametrize("listeners", ["A://:1;B://:2", "A://:1 B://:2", "A ://:1,B://:2", "A://http://:1,B://:2"])
def test_the_repair_leaves_nothing_odd(listeners: str) -> None:
    text = zookeeper(KAFKA_LISTENERS=listeners, KAFKA_ADVERTISED_LISTENERS="A://kafka:1,B://kafka:2", **MAP)
    assert serious(repaired(text)) == {}
    assert "A://:1,B://:2" in repaired(text)


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (None, {}),
        ("PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT", {}),
        ("PLAINTEXT:PLAINTEXT", DROPPED),
        ("CONTROLLER:PLAINTEXT", DROPPED),
        ("OTHER:PLAINTEXT", DROPPED),
        ("", DROPPED),
    ],
)
def test_a_map_that_is_set_takes_every_default_away(mapping: str | None, expected: dict[str, Severity]) -> None:
    text = kraft(node(KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=mapping))
    assert serious(text) == expected
    if mapping:
        assert serious(repaired(text)) == {}


def test_a_name_that_never_had_a_protocol_is_not_dropped() -> None:
    text = kraft(
        node(
            KAFKA_LISTENERS="X://:9092,CONTROLLER://:9093",
            KAFKA_ADVERTISED_LISTENERS="X://kafka:9092",
            KAFKA_INTER_BROKER_LISTENER_NAME="X",
            KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="CONTROLLER:PLAINTEXT",
        )
    )
    assert serious(text) == UNMAPPED


@pytest.mark.parametrize(
    ("image", "changes", "expected"),
    [
        ("apache/kafka:3.9.1", {}, {"control-plane-misuse": Severity.ERROR}),
        # forgotten: it has no effect
        ("apache/kafka:4.0.0", {}, {}),
        ("apache/kafka", {}, {}),
    ],
)
def test_a_control_plane_in_kraft(image: str, changes: dict[str, str], expected: dict[str, Severity]) -> None:
    assert serious(kraft(node(image=image, KAFKA_CONTROL_PLANE_LISTENER_NAME="CONTROLLER", **changes))) == expected


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("B", None),
        ("b", None),
        ("A", "when defined, should have a different value"),
        ("C", "not found in"),
        ("D", "must be a listener name defined in advertised.listeners."),
    ],
)
def test_a_control_plane_with_zookeeper(name: str, says: str | None) -> None:
    text = zookeeper(
        KAFKA_LISTENERS="A://:1,B://:2,D://:3",
        KAFKA_ADVERTISED_LISTENERS="A://kafka:1,B://kafka:2",
        KAFKA_INTER_BROKER_LISTENER_NAME="A",
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="A:PLAINTEXT,B:PLAINTEXT,D:PLAINTEXT",
        KAFKA_CONTROL_PLANE_LISTENER_NAME=name,
    )
    assert serious(text) == ({"control-plane-misuse": Severity.ERROR} if says else {})
    assert all(says is not None and told is not None and says in told for told in prints(text))


def test_a_controller_may_name_its_own_listener_for_brokers_up_to_3_9() -> None:
    def only(image: str) -> str:
        return node(
            image=image,
            KAFKA_PROCESS_ROLES="controller",
            KAFKA_LISTENERS="CONTROLLER://:9093",
            KAFKA_ADVERTISED_LISTENERS=None,
            KAFKA_INTER_BROKER_LISTENER_NAME="CONTROLLER",
        )

    assert serious(kraft(only("apache/kafka:3.9.1"))) == {}
    assert serious(kraft(only("apache/kafka:4.0.0"))) == {"kraft-inter-broker-is-controller": Severity.ERROR}


def of(number: int, voters: str, **changes: str) -> str:
    return node(
        name=f"kafka-{number}",
        KAFKA_NODE_ID=str(number),
        KAFKA_ADVERTISED_LISTENERS=f"PLAINTEXT://kafka-{number}:9092",
        KAFKA_CONTROLLER_QUORUM_VOTERS=voters,
        **changes,
    )


ALL = "1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093"
WARNED = {"kraft-voters-inconsistent": Severity.WARNING}
ONLY_BROKER = {
    "KAFKA_PROCESS_ROLES": "broker",
    "KAFKA_LISTENERS": "PLAINTEXT://:9092",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((of(1, ALL), of(2, ALL), of(3, ALL)), {}),
        # whether these get along is chance
        ((of(1, ALL), of(2, ALL), of(3, "3@kafka-3:9093")), WARNED),
        ((of(1, ALL), of(2, ALL), of(3, "1@kafka-1:9093,3@kafka-3:9093")), WARNED),
        ((of(1, "1@kafka-1:9093,2@kafka-2:9093"), of(2, "2@kafka-2:9093")), WARNED),
        # two clusters, each of one node
        ((of(1, "1@kafka-1:9093"), of(2, "2@kafka-2:9093")), {}),
        # who is only a broker may get along with a part of the list, or not
        (
            (of(1, ALL), of(2, ALL), of(3, ALL), of(4, "1@kafka-1:9093", **ONLY_BROKER)),
            WARNED,
        ),
        ((of(1, ALL), of(2, ALL), of(3, ALL), of(4, ALL, **ONLY_BROKER)), {}),
    ],
)
def test_voters_are_the_same_everywhere(nodes: tuple[str, ...], expected: dict[str, Severity]) -> None:
    assert serious(kraft(*nodes)) == expected


@pytest.mark.parametrize(
    ("image", "advertised", "expected"),
    [
        ("apache/kafka:3.9.1", "kafka-1:9093", {}),
        ("apache/kafka:3.9.1", "localhost:9093", {"kraft-advertised-controller-differs": Severity.WARNING}),
        ("apache/kafka:4.0.0", "kafka-1:9094", {"kraft-advertised-controller-differs": Severity.WARNING}),
        # another name may be one of the same container
        ("apache/kafka:3.9.1", "kafka-1.example:9093", {}),
        # refused before it could differ
        ("apache/kafka:3.8.1", "localhost:9093", {"kraft-controller-advertised": Severity.ERROR}),
    ],
)
def test_what_a_controller_advertises(image: str, advertised: str, expected: dict[str, Severity]) -> None:
    voters = "1@kafka-1:9093,2@kafka-2:9093"
    first = node(
        image=image,
        name="kafka-1",
        KAFKA_ADVERTISED_LISTENERS=f"PLAINTEXT://kafka-1:9092,CONTROLLER://{advertised}",
        KAFKA_CONTROLLER_QUORUM_VOTERS=voters,
    )
    assert serious(kraft(first, of(2, voters))) == expected


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
        ("[./data:/var/lib/kafka/data]", "[data/:/var/lib/kafka/data]", {}),
        ("[./data:/var/lib/kafka/data]", "[./data/:/var/lib/kafka/data]", {"shared-data-volume": ERROR}),
        # An anonymous volume of the image covers where the broker writes.
        ("[./data:/var/lib/kafka]", "[./data/:/var/lib/kafka]", {"data-not-kept": WARNING}),
        # other folders of one thing
        ("[./a:/var/lib/kafka/data]", "[./b:/var/lib/kafka/data]", {}),
        ("[data:/var/lib/kafka/data]", "[data:/var/lib/kafka]", {"data-not-kept": WARNING}),
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
        ("9092:9092", "[::]:9092:9092", True),
        ("9092:9092", "[::1]:9092:9092", True),
        ("0.0.0.0:9092:9092", "[::]:9092:9092", False),
        ("[::]:9092:9092", "[::1]:9092:9092", True),
        ("[::]:9092:9092", "127.0.0.1:9092:9092", False),
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
