"""The grammar: a project as files, made of what decides about Kafka listeners, then often disturbed.

Everything comes from one `random.Random`, so a seed is a project. What must never be printed bears `SECRET`. The words
come first: what is sane, and what no compose file should hold.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import rule_page
from tests.house.tree import ROOT

IMAGES = (
    "apache/kafka:3.9.1",
    "apache/kafka:4.0.0",
    "apache/kafka",
    "confluentinc/cp-kafka:7.9.2",
    "confluentinc/cp-server:8.0.0",
    "confluentinc/cp-kafka:${TAG:-7.4.0}",
    "bitnami/kafka:3.6",
    "bitnamilegacy/kafka:3.9",
    "wurstmeister/kafka:2.13-2.8.1",
    "redpandadata/redpanda:v25.1.1",
    "lensesio/fast-data-dev",
    "quay.io/strimzi/kafka:0.45.0-kafka-3.9.0",
    "debezium/kafka:2.7",
    "debezium/connect:2.7",
    "zookeeper:3.9",
    "confluentinc/cp-schema-registry:7.9.2",
    "provectuslabs/kafka-ui",
    "obsidiandynamics/kafdrop",
    "confluentinc/cp-ksqldb-server:7.9.2",
)
# More digits than Python makes a number of, and what is a digit and no number.
WILD_NUMBERS = ("--1", "²", "9" * 5000)
WILD_IMAGES = (f"apache/kafka:{WILD_NUMBERS[-1]}.1", "x@sha256:00", "", "a:b:c", "\x1b[31mred", "${IMG}")
KEYS = (
    "KAFKA_LISTENERS",
    "KAFKA_ADVERTISED_LISTENERS",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
    "KAFKA_INTER_BROKER_LISTENER_NAME",
    "KAFKA_CONTROLLER_LISTENER_NAMES",
    "KAFKA_CONTROLLER_QUORUM_VOTERS",
    "KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS",
    "KAFKA_NODE_ID",
    "KAFKA_BROKER_ID",
    "KAFKA_PROCESS_ROLES",
    "CLUSTER_ID",
    "KAFKA_ZOOKEEPER_CONNECT",
    "KAFKA_CFG_LISTENERS",
    "KAFKA_CFG_NODE_ID",
    "KAFKA_CFG_ADVERTISED_LISTENERS",
    "KAFKA_CFG_PROCESS_ROLES",
    "KAFKA_CFG_CONTROLLER_QUORUM_VOTERS",
    "KAFKA_ADVERTISED_HOST_NAME",
    "KAFKA_ADVERTISED_PORT",
    "HOSTNAME_COMMAND",
    "PORT_COMMAND",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR",
    "KAFKA_CREATE_TOPICS",
    "KAFKA_BOOTSTRAP_SERVERS",
    "BOOTSTRAP_SERVERS",
    "CONNECT_BOOTSTRAP_SERVERS",
    "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS",
    "KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS",
    "SPRING_APPLICATION_JSON",
    "KAFKA_OPTS",
    "KAFKA_HEAP_OPTS",
    "ADV_HOST",
    "BROKER_PORT",
    "ALLOW_PLAINTEXT_LISTENER",
    "KAFKA_KRAFT_CLUSTER_ID",
    "ZOOKEEPER_CLIENT_PORT",
    "KAFKA_MIN_INSYNC_REPLICAS",
    "KAFKA_SSL_KEYSTORE_LOCATION",
    "KAFKA_LISTENER_NAME_EXT_SSL_CLIENT_AUTH",
    "KAFKA_SASL_ENABLED_MECHANISMS",
    "KAFKA_BROKERS",
)
SECRET_KEYS = (
    "KAFKA_SSL_KEYSTORE_PASSWORD",
    "KAFKA_SASL_JAAS_CONFIG",
    "KAFKA_LISTENER_NAME_EXT_PLAIN_SASL_JAAS_CONFIG",
    "DB_PASSWORD",
    "KAFKA_CLIENT_PASSWORDS",
    "API_TOKEN",
    "CLIENT_SECRET",
)
WILD_KEYS = ("KAFKA_", "KAFKA_\x1b[2J", "", "A B", "KAFKA_LISTENERS\u202e")
NAMES = ("PLAINTEXT", "EXT", "HOST", "CONTROLLER", "SSL", "SASL_SSL", "INTERNAL")
WILD_NAMES = ("a b", "é", "", "\x1b]0;x\x07", "N" * 300)
HOSTS = (
    "kafka",
    "broker-1",
    "localhost",
    "127.0.0.1",
    "0.0.0.0",
    "",
    "host.docker.internal",
    "[::1]",
    "[::]",
    "192.168.1.5",
    "${HOST:-kafka}",
    "${A:-${B:-${C:-x}}}",
    "kafka",
    "broker-1",
)
WILD_HOSTS = (
    "${HOST}",
    "$$HOST",
    "${HOST:?no}",
    "-",
    "kafka.example.com",
    "1.2.3.4.5",
    "255.255.255.255",
    "h" * 260,
    "\u202ekafka",
    "${",
    "_{HOSTNAME_COMMAND}",
    "kafka1,kafka2",
    "xn--a",
    "0x7f.1",
    "[fe80::1%eth0]",
)
PORTS = ("9092", "29092", "9093", "${PORT:-9092}")
WILD_PORTS = ("0", "-1", "65536", "99999999999999999999", "", "${PORT}", "9092/tcp", "９０９２", "1e3", *WILD_NUMBERS)
COMMENTS = (
    "# netdiag: ignore[all]",
    "# netdiag: ignore[advertised-]",
    "# netdiag: ignore-file[all]",
    "# netdiag: ignore[" + "a," * 50 + "]",
    "# netdiag: ignore",
    "# netdiag: ignore[compose-] \u202ewhy",
    "# netdiag:" * 9,
)
WILD_COMMENTS = ("# netdiag: nonsense[\x1b]", "#", "# netdiag: ignore[*]")
PARTS = (
    "&a ",
    "*a",
    "<<: *a",
    "<<: [*a, *k]",
    "!reset ",
    "!override ",
    "${",
    "${A:-",
    "}",
    "$",
    '"',
    "'",
    "|\n",
    ">-\n",
    "[",
    "]",
    "{",
    "}",
    ": ",
    "- ",
    "\r\n",
    "\r",
    "\t",
    "#",
    "é",
    "\U0001f600",
    "\ufeff",
    "---\n",
    "%YAML 1.1\n",
    "\\",
    "? ",
    "!!binary ",
    "\u2028",
    "\x85",
    "\x1b[2J",
    "\u202e",
    "1e999",
    "0x",
    "~",
    "\n    ",
    "\n",
    "extends: kafka",
    "include: [other.yml]",
    "ports: ['1-9999:1-9999']",
    "\x00",
    "://",
    ",,,",
    "9" * 400,
    "://" * 50,
    "a.b:" * 60,
    "${A:-" * 40,
    "[" * 90,
    "netdiag: ignore[",
)
WILD_TOP = (
    "name: {name}",
    "include: [{{path: other.yml, env_file: v.env}}, compose.yml]",
    "include: [other.yml]",
    "x-a: &a [*a]",
)
TOP = (
    "name: p",
    "x-k: &k {{KAFKA_NODE_ID: 1}}",
    "networks: {{default: {{name: n, external: true}}, back: {{internal: true}}}}",
    "configs: {{c: {{content: 'listeners={list}'}}}}",
    "secrets: {{s: {{environment: DB_PASSWORD}}}}",
    "volumes: {{v: {{}}}}",
    "version: '3'",
)
COMMANDS = (
    "kafka-topics --bootstrap-server {list} --list",
    "bash -c 'cub kafka-ready -b {list} 1 20 && /etc/confluent/docker/run'",
    'sh -c "until nc -z {host} {port}; do sleep 1; done; kafka-console-producer --broker-list {list} --topic t"',
    "start-kafka.sh --override listeners={list} --override advertised.listeners={list}",
    "redpanda start --kafka-addr {list} --advertise-kafka-addr {list} --rpc-addr 0.0.0.0:33145 --overprovisioned",
    "rpk topic list --brokers {list}",
    "kcat -b {list} -L",
    "[]",
    "[a, {{b: c}}]",
    "kafka-run-class -Dx={list} | tee \\\n && exec",
)


SECRET = "SECRET-xyz"
LARGEST = 64 * 1024

Project = dict[str, bytes]


class Chance(random.Random):
    """Chance with a temper: how often something is taken that no compose file should hold."""

    temper = 0.0

    def pick(self, sane: Sequence[str], wild: Sequence[str]) -> str:
        """One of the sane ones, or of the wild."""
        return self.choice(wild if wild and self.random() < self.temper else sane)


def project(seed: int) -> Project:
    """The project of a seed: its files by their paths, none larger than LARGEST, `compose.yml` among them."""
    chance = Chance(seed)
    chance.temper = chance.choice((0, 0, 0.03, 0.2))
    files = {
        "compose.yml": _compose(chance),
        ".env": _lines(chance, _assignment, 8),
        "v.env": _lines(chance, _assignment, 8),
        "other.yml": _compose(chance),
        "server.properties": _lines(chance, _property, 12),
        "redpanda.yaml": _redpanda(chance),
        "Dockerfile": _lines(chance, _instruction, 8),
    }
    if chance.random() < 0.3:
        files["netdiag.toml"] = "".join(dict.fromkeys(_setting(chance) + "\n" for _ in range(chance.randrange(4))))
    if chance.random() < 0.2:
        files["baseline.json"] = _baseline(chance)
    return {path: disturbed(chance, text, chance.temper * 2) for path, text in files.items()}


def disturbed(chance: Chance, text: str, often: float) -> bytes:
    """The text as bytes, with a part of it doubled, removed or replaced now and then; no secret leaves its key."""
    while chance.random() < often:
        place, other = chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)
        match chance.randrange(4):
            case 0:
                text = text[:place] + chance.choice(PARTS) + text[place:]
            case 1:
                text = _without(text, place, place + chance.randint(1, 30))
            case 2:
                piece = text[other : other + chance.randint(1, 80)]
                text = text[:place] + ("" if "SEC" in piece or "xyz" in piece else piece) + text[place:]
            case _:
                text = text[:place] + chance.choice(PARTS) * chance.choice((2, 9, 400)) + text[place:]
    data = text.encode("utf-8", "replace")[:LARGEST]
    if chance.random() < often / 10:
        place = chance.randrange(len(data) + 1)
        data = data[:place] + bytes([chance.randrange(256)]) + data[place:]
    return data


def hides(files: Mapping[str, bytes]) -> bool:
    """Whether every secret of the project still stands behind the name that makes it one, on one line."""
    for data in files.values():
        for line in data.decode("utf-8", "replace").replace("\r", "\n").split("\n"):
            for part in line.split(SECRET)[:-1]:
                if not part.rstrip(" '\"").endswith(("=", ":")) or not any(key in part for key in SECRET_KEYS):
                    return False
    return True


def _without(text: str, start: int, end: int) -> str:
    """Without these characters; whole lines with a secret stay."""
    return text if SECRET in text[max(0, start - 100) : end + 100] else text[:start] + text[end:]


@cache
def _examples() -> tuple[str, ...]:
    pages = [rule_page(rule.__doc__ or "") for rule in ALL]
    stacks = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("compose/scenarios/*/*.yml"))]
    return tuple(text for text in (*(p.bad for p in pages), *(p.good for p in pages), *stacks) if "services:" in text)


def _compose(chance: Chance) -> str:
    if chance.random() < 0.3:
        return _examples()[chance.randrange(len(_examples()))]
    top = dict.fromkeys(chance.pick(TOP, WILD_TOP) for _ in range(chance.randrange(4)))
    lines = [_filled(chance, text) for text in top]
    lines.append(f"services:{chance.choice(('', '', '  ' + chance.pick(COMMENTS, WILD_COMMENTS)))}")
    for name in chance.sample(("kafka", "broker-1", "zookeeper", "ui", chance.pick(("a.b",), ("k\x1b[31m", "2"))), 3):
        lines += _service(chance, name)
    return "\n".join(lines) + "\n"


def _service(chance: Chance, name: str) -> list[str]:
    lines = [f'  "{_escaped(name)}":']
    for key in chance.sample(tuple(_ENTRIES), chance.randint(2, 6)):
        if key == "network_mode" and any("networks:" in line for line in lines) and chance.random() > chance.temper:
            continue
        lines += ["    " + line for line in _ENTRIES[key](chance)]
    if chance.random() < 0.95:
        lines.append(f'    image: "{_escaped(chance.pick(IMAGES, WILD_IMAGES))}"')
    lines += ["    " + line for line in _environment(chance)]
    return lines


def _environment(chance: Chance) -> list[str]:
    anchor = chance.choice(("", "", " &k", " # netdiag: ignore[all]"))
    count = chance.randint(1, 14)
    if chance.random() < 0.3:
        return [f"environment:{anchor}", *(f'  - "{_escaped(_assignment(chance))}"' for _ in range(count))]
    lines = [f"environment:{anchor}"]
    pairs = dict(_assignment(chance).split("=", 1) for _ in range(count))
    for key, value in pairs.items():
        comment = "  " + chance.pick(COMMENTS, WILD_COMMENTS) if chance.random() < 0.1 else ""
        lines.append(f'  "{_escaped(key)}": "{_escaped(value)}"{comment}')
    return [*lines, chance.pick(("", "  KAFKA_NULL:"), ("  <<: *k", "  <<: [*k]"))]


_ENTRIES: dict[str, Callable[[Chance], list[str]]] = {
    "ports": lambda c: ["ports:", *(f'  - "{_escaped(_published(c))}"' for _ in range(c.randint(1, 3)))],
    "long ports": lambda c: [f"expose: ['{c.pick(PORTS, WILD_PORTS)}']"],
    "command": lambda c: [f'command: "{_escaped(_filled(c, c.choice(COMMANDS)))}"'],
    "entrypoint": lambda c: [f"entrypoint: [sh, -c, {_filled(c, c.choice(COMMANDS))!r}]"],
    "healthcheck": lambda c: [f'healthcheck: {{test: "{_escaped(_filled(c, c.choice(COMMANDS)))}"}}'],
    "extends": lambda c: [
        c.pick(("restart: always",), ("extends: kafka", "extends: {file: other.yml, service: kafka}", "extends: {}"))
    ],
    "env_file": lambda c: [c.choice(("env_file: v.env", "env_file: [.env, {path: no.env, required: false}]"))],
    "build": lambda c: [
        c.choice(("build: .", "build: {context: ., args: {TAG: 7.9.2}}", "build: {dockerfile_inline: FROM x}"))
    ],
    "networks": lambda c: [
        c.pick(("networks: [default]",), ("networks: {back: {aliases: [kafka, b], ipv4_address: 10.0.0.1}}",))
    ],
    "network_mode": lambda c: [
        f"network_mode: {c.pick(('host', 'bridge', 'none'), ('service:kafka', 'container:x', 'service:'))}"
    ],
    "volumes": lambda c: [
        "volumes: [./server.properties:/etc/kafka/server.properties, ./redpanda.yaml:/etc/redpanda/redpanda.yaml]"
    ],
    "extra_hosts": lambda c: [f"extra_hosts: ['{c.pick(HOSTS, WILD_HOSTS)}:host-gateway', 'h=127.0.0.1']"],
    "hostname": lambda c: [
        f'hostname: "{_escaped(c.pick(HOSTS, WILD_HOSTS))}"',
        c.pick(("",), ("container_name: kafka", "container_name: x")),
    ],
    "scale": lambda c: [
        c.pick(
            ("scale: 3", "profiles: [a]", "deploy: {mode: global}"), ("deploy: {replicas: 99999999999}", "scale: -1")
        )
    ],
    "links": lambda c: [
        c.pick(("labels: {a: b}",), ("links: ['kafka:k']", "depends_on: {kafka: {condition: service_healthy}}"))
    ],
    "comment": lambda c: [c.pick(COMMENTS, WILD_COMMENTS)],
}


def _assignment(chance: Chance) -> str:
    if chance.random() < 0.15:
        return f"{chance.choice(SECRET_KEYS)}={SECRET}{chance.randrange(10**6)}"
    key = chance.pick((*KEYS[:11] * 3, *KEYS, "HOST", "PORT", "TAG", "A", "IMG"), (*WILD_KEYS, "COMPOSE_PROFILES"))
    fitting = next((value for part, value in _FITTING.items() if part in key), None)
    return f"{key}={fitting(chance) if fitting and chance.random() < 0.8 else _value(chance)}"


def _value(chance: Chance) -> str:
    match chance.randrange(10):
        case 0:
            return chance.choice(("1", "true", "broker,controller", "broker", "MkU3OEVBNTcwNTJENDM2Qk", "", "\x1b[0m"))
        case 1:
            return f"{chance.randint(0, 4)}@{chance.pick(HOSTS, WILD_HOSTS)}:{chance.pick(PORTS, WILD_PORTS)}"
        case 2:
            return chance.pick(NAMES, WILD_NAMES) + ":" + chance.pick(NAMES, WILD_NAMES)
        case 3:
            return _filled(chance, chance.choice(COMMANDS))
        case 4:
            return '{"bootstrap.servers": "' + _servers(chance) + '"}'
        case 5:
            return _servers(chance)
        case _:
            return _listeners(chance)


_FITTING: dict[str, Callable[[Chance], str]] = {
    "PROTOCOL_MAP": lambda c: ",".join(
        f"{name}:{c.choice(('PLAINTEXT', 'SSL', 'SASL_SSL'))}" for name in NAMES[: c.randint(1, 7)]
    ),
    "CONTROLLER_LISTENER": lambda c: "CONTROLLER",
    "INTER_BROKER": lambda c: c.pick(NAMES, WILD_NAMES),
    "LISTENERS": lambda c: _listeners(c),
    "VOTERS": lambda c: f"{c.randint(0, 3)}@{c.pick(HOSTS, WILD_HOSTS)}:{c.pick(PORTS, WILD_PORTS)}",
    "_ID": lambda c: c.pick(("1", "2", "3"), ("-1", "x", "", *WILD_NUMBERS)),
    "ROLES": lambda c: c.pick(("broker,controller", "broker", "controller"), ("", "x", "broker,,")),
    "SERVERS": lambda c: _servers(c),
    "ZOOKEEPER_CONNECT": lambda c: c.pick(
        ("zookeeper:2181", "zookeeper:2181/kafka"), ("", ",", "/x", *(f"zookeeper:{number}" for number in WILD_NUMBERS))
    ),
    "HOST": lambda c: c.pick(HOSTS, WILD_HOSTS),
    "PORT": lambda c: c.pick(("9092", "29092"), WILD_PORTS),
    "FACTOR": lambda c: c.pick(("1", "3"), ("-1", "x", "1e3", *WILD_NUMBERS)),
}


def _listeners(chance: Chance) -> str:
    count = chance.choice((1, 1, 2, 2, 3, 3, 2, 2, 1, 30))
    return ",".join(
        f"{chance.pick(NAMES, WILD_NAMES)}://{chance.pick(HOSTS, WILD_HOSTS)}:{chance.pick(PORTS, WILD_PORTS)}"
        for _ in range(count)
    )


def _servers(chance: Chance) -> str:
    return ",".join(
        f"{chance.pick(HOSTS, WILD_HOSTS)}:{chance.pick(PORTS, WILD_PORTS)}"
        for _ in range(chance.choice((1, 2, 3, 1, 1, 2, 1, 40)))
    )


def _published(chance: Chance) -> str:
    return ":".join(
        chance.pick(PORTS, (*WILD_PORTS, "9000-9010", "127.0.0.1")) for _ in range(chance.choice((1, 2, 2)))
    )


def _filled(chance: Chance, text: str) -> str:
    return text.format(
        list=chance.choice((_listeners, _servers))(chance),
        host=chance.pick(HOSTS, WILD_HOSTS),
        port=chance.pick(PORTS, WILD_PORTS),
        name=chance.choice(("p", "\x1b", "P!", "${P}")),
    )


def _property(chance: Chance) -> str:
    key, _, value = _assignment(chance).partition("=")
    name = key if key in SECRET_KEYS else key.removeprefix("KAFKA_").lower().replace("_", ".")
    return name + chance.choice(("=", ": ", "=")) + value.replace("\x00", "") + chance.choice(("", "", "\\", "\\u00e9"))


def _redpanda(chance: Chance) -> str:
    host, port = _escaped(chance.pick(HOSTS, WILD_HOSTS)), chance.pick(PORTS, WILD_PORTS)
    other, behind = _escaped(chance.pick(HOSTS, WILD_HOSTS)), chance.pick(PORTS, WILD_PORTS)
    return (
        f"redpanda:\n  node_id: {chance.randint(0, 3)}\n"
        f'  kafka_api: [{{address: "{host}", port: {port}, name: a}}]\n'
        f'  advertised_kafka_api: [{{address: "{other}", port: {behind}, name: b}}]\n'
        f"rpk: {{kafka_api: {{brokers: ['{_escaped(_servers(chance))}']}}}}\n"
    )


def _instruction(chance: Chance) -> str:
    return chance.choice(
        (
            f"FROM {chance.pick(IMAGES, WILD_IMAGES)} AS x",
            "ARG TAG=7.9.2",
            f"ENV {_assignment(chance)}",
            f"EXPOSE {chance.pick(PORTS, WILD_PORTS)}",
            f"CMD {_filled(chance, chance.choice(COMMANDS))}",
            "# escape=`",
            "COPY --from=x a b",
            "RUN <<E\nx\nE",
            "ENV A B \\",
        )
    )


def _setting(chance: Chance) -> str:
    return chance.choice(
        (
            'ignore = ["advertised-"]',
            'fail-on = "note"',
            f'per-file-ignores."{"*" * 30}a*b" = ["compose-"]',
            'images."a" = "confluentinc/cp-kafka"',
            f'host-clients = ["{_escaped(_servers(chance))}"]',
            'severity."kraft-" = "note"',
            'docker-host-ip = ["1.2.3.4"]',
            'profiles = ["*"]',
            "external-networks.n.members = ['x']",
            chance.pick(("",), ("a.b.c = 1", "[[images]]")),
        )
    )


def _baseline(chance: Chance) -> str:
    entry = '{"path": "compose.yml", "rule": "compose-extends", "service": "a", "fingerprint": "%032x"}'
    entries = ", ".join(entry % chance.randrange(2**128) for _ in range(chance.randrange(4)))
    return '{"version": 1, "findings": [' + entries + "]}"


def _lines(chance: Chance, one: Callable[[Chance], str], most: int) -> str:
    return "".join(one(chance) + chance.choice(("\n", "\n", "\r\n")) for _ in range(chance.randrange(most)))


def _escaped(text: str) -> str:
    """As the inside of a double quoted scalar."""
    return "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text)
