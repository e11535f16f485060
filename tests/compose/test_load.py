"""Whole small files: what they declare, where it stands, and what compose would refuse.

The model answers for itself, and variables of a command that were meant for the container are found.
"""

import pytest

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import load, normalized_name
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError, Problems
from netdiag.compose.project import Project, Service, unescaped_variables
from tests.compose.tracing import assert_traced, cut, project, texts_in
from tests.deployment.stacks import project_of

STACK = """\
name: Kafka.Lab
x-common: &common
  image: apache/kafka:${TAG:-3.9.1}
  environment: &env
    KAFKA_PROCESS_ROLES: broker,controller   # both
    KAFKA_LISTENERS: >-
      PLAINTEXT://:9092,
      CONTROLLER://:9093
services:
  kafka:
    <<: *common
    container_name: "kafka"
    ports:
      - "9092:9092"
      - target: 9094
        published: "19094"
        host_ip: 127.0.0.1
    environment:
      <<: *env
      KAFKA_NODE_ID: 1
      KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://${HOST}:9092'
    networks:
      inside:
        aliases: [broker]
  client:
    image: client
    environment:
      - BOOTSTRAP=kafka:9092
      - HOME
    profiles: [tools]
networks:
  inside:
    driver: bridge
    internal: true
    ipam: {config: [{subnet: 10.1.0.0/16, gateway: 10.1.0.1}]}
"""


def test_a_stack_with_anchors_merge_keys_and_variables() -> None:
    data = STACK.encode()
    loaded = load(Source("compose.yaml", data), environ={"HOST": "broker.example"})
    assert loaded.name == "kafkalab"
    kafka = loaded.services["kafka"]
    assert kafka.image is not None
    assert kafka.image.value == "apache/kafka:3.9.1"
    assert cut(data, kafka.image.span_of(13, 18)) == "${TAG:-3.9.1}"
    default = kafka.image.edit_span(13, 18)
    assert default is not None
    assert cut(data, default) == "3.9.1"
    assert {name: str(v.value) for name, v in kafka.environment.items()} == {
        "KAFKA_NODE_ID": "1",
        "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://broker.example:9092",
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_LISTENERS": "PLAINTEXT://:9092, CONTROLLER://:9093",
    }
    advertised = kafka.environment["KAFKA_ADVERTISED_LISTENERS"]
    assert advertised.value is not None
    assert cut(data, advertised.value.span_of(12, 26)) == "${HOST}"
    assert cut(data, advertised.value.span_of(27, 31)) == "9092"
    assert advertised.value.edit_span(12, 26) is None
    roles = kafka.environment["KAFKA_PROCESS_ROLES"]
    assert roles.via is not None
    assert cut(data, roles.via) == "*env"
    assert cut(data, roles.entry_span) == "KAFKA_PROCESS_ROLES: broker,controller"
    assert [(p.published, p.target, p.host_ip) for p in kafka.ports] == [
        (9092, 9092, ""),
        (19094, 9094, "127.0.0.1"),
    ]
    assert kafka.networks[0].network == "inside"
    assert [alias.value for alias in kafka.networks[0].aliases] == ["broker"]
    inside = loaded.networks["inside"]
    assert inside.internal
    assert inside.name == "kafkalab_inside"
    assert [subnet.value for subnet in inside.subnets] == ["10.1.0.0/16"]
    client = loaded.services["client"]
    assert client.environment["HOME"].value is None
    assert client.networks[0].network == "default"
    assert loaded.networks["default"].implicit
    assert not loaded.problems
    for text in texts_in(loaded):
        assert_traced(text, {"compose.yaml": data})


def test_values_from_dotenv_are_edited_there() -> None:
    env = b"HOST='kafka.lan'\nPORT=9092\n"
    data = b"services: {k: {image: x, environment: {A: 'P://${HOST}:${PORT}'}}}\n"
    dotenv = load_dotenv(Source(".env", env), {})
    text = load(Source("compose.yaml", data), dotenv=dotenv, environ={}).services["k"].environment["A"].value
    assert text is not None
    assert text.value == "P://kafka.lan:9092"
    host = text.edit_span(4, 13)
    assert host is not None
    assert host.path == ".env"
    assert cut(env, host) == "kafka.lan"
    assert text.edit_span(3, 13) is None
    assert_traced(text, {".env": env, "compose.yaml": data})
    overridden = load(Source("compose.yaml", data), dotenv=dotenv, environ={"HOST": "shell"})
    assert str(overridden.services["k"].environment["A"].value) == "P://shell:9092"


# text, the message, the characters it points at (None: do not look)
REFUSED = [
    (b"", "empty", ""),
    (b"# only a comment\n", "empty", ""),
    (b"- a\n- b\n", "mapping", "- a\n- b"),
    (b"just text", "mapping", "just text"),
    (b"a: [1, 2\n", "not YAML", ""),
    (b"a:\n\t- b\n", "not YAML", ""),
    (b"a: \xff\n", "not UTF-8: byte 0xff", None),
    (b"a: b\x00c\n", "character 0x00 is not allowed", "\x00"),
    (b"a: *nowhere\n", "unknown anchor 'nowhere'", "*nowhere"),
    (b"a: &a [*a]\n", "anchor 'a' contains itself", "*a"),
    (b"a: &a 1\nb:\n  <<: *a\n", "merge key needs a mapping", "*a"),
    (b"? [a, b]\n: c\n", "a key must be a string", "[a, b]"),
    (b"a: " + b"[" * 200 + b"]" * 200, "nested deeper than 100 levels", None),
    (b"x" * 2_100_000, "too large", ""),
]


@pytest.mark.parametrize(("data", "message", "under"), REFUSED, ids=[case[1] for case in REFUSED])
def test_what_cannot_be_read_at_all(data: bytes, message: str, under: str | None) -> None:
    with pytest.raises(ComposeError) as caught:
        load(Source("compose.yaml", data), environ={})
    assert message in caught.value.message
    assert caught.value.span is not None
    if under is not None:
        assert cut(data, caught.value.span) == under


# services and more, the code, the characters under the problem, those under the related place
PROBLEMS = [
    ("services: {a: {image: x, ports: [99999]}}", "port", "99999", ()),
    ("services: {a: {image: x, ports: ['1:2:3:4']}}", "port", "1:2", ()),
    ("services: {a: {image: x, networks: [n]}}", "undefined-network", "n", ()),
    ("services: {a: {image: x, depends_on: [b]}}", "undefined-service", "b", ()),
    ("services: {a: {image: x, network_mode: 'service:b'}}", "undefined-service", "'service:b'", ()),
    ("services: {a: {image: x, volumes: ['vol:/v']}}", "undefined-volume", "vol", ()),
    ("services: {a: {ports: [80]}}", "no-image", "a", ()),
    ("services: {a: {image: x, image: y}}", "duplicate-key", "image", ("image",)),
    ("services: {a: {image: '${X:?say it}'}}", "required-variable", "${X:?say it}", ()),
    ("services: {a: {image: '${X'}}", "interpolation", "${X", ()),
    ("services: {a: {image: [x]}}", "schema", "[x]", ()),
    ("services: {a: [x]}", "schema", "[x]", ()),
    ("services: {a: {image: x, environment: {K: [x]}}}", "schema", "[x]", ()),
    ("services: {a: {image: x, environment: [{K: v}]}}", "schema", "{K: v}", ()),
    ("services: {a: {image: x, environment: ['K =v']}}", "environment", "K ", ()),
    ("services: {a: {image: x, env_file: e}}", "env-file", "e", ()),
    ("services: {a: {image: x, container_name: c, scale: 2}}", "container-name", "c", ("scale",)),
    ("services: {a: {image: x, scale: 2, deploy: {replicas: 3}}}", "scale", "scale", ()),
    (
        "services: {a: {image: x, network_mode: host, networks: [n]}}\nnetworks: {n: }",
        "network-mode",
        "host",
        ("networks",),
    ),
    (
        "services: {a: {image: x, container_name: c}, b: {image: x, container_name: c}}",
        "container-name",
        "c",
        ("c",),
    ),
    ("service: {a: {image: x}}", "schema", "service", ()),
]


def test_an_empty_container_name_is_none() -> None:
    loaded = project("services: {a: {image: x, container_name: '${N}'}, b: {image: x, container_name: ''}}")
    assert [service.container_name for service in loaded.services.values()] == [None, None]
    assert {problem.code for problem in loaded.problems} == {"unset-variable"}


@pytest.mark.parametrize(("yaml", "code", "under", "related"), PROBLEMS)
def test_what_compose_refuses_has_a_place(yaml: str, code: str, under: str, related: tuple[str, ...]) -> None:
    found = [problem for problem in project(yaml).errors if problem.code == code]
    assert [cut(yaml.encode(), problem.span) for problem in found] == [under]
    assert tuple(cut(yaml.encode(), span) for span in found[0].related) == related


def test_the_rest_of_a_refused_project_is_read() -> None:
    loaded = project("services: {a: {image: x, ports: [bad, '1:2']}, b: [x], c: {image: '${V:?}'}}")
    assert [port.target for port in loaded.services["a"].ports] == [2]
    assert set(loaded.services) == {"a", "b", "c"}


def test_an_unset_variable_is_a_warning() -> None:
    loaded = project("services: {a: {image: 'x:$TAG'}}")
    assert [(w.code, w.severity, w.span.start) for w in loaded.warnings] == [("unset-variable", "warning", 25)]
    image = loaded.services["a"].image
    assert image is not None
    assert image.value == "x:"
    assert image.unset == ("TAG",)


def test_profiles_choose_services() -> None:
    yaml = "services: {a: {image: x}, b: {image: x, profiles: [p, q]}, c: {image: x, profiles: [r]}}"
    for profiles, names in {("*",): "abc", (): "a", ("q",): "ab", ("r", "p"): "abc"}.items():
        loaded = load(Source("f", yaml), environ={}, profiles=profiles)
        assert "".join(loaded.services) == names
        assert "".join(loaded.disabled) == "".join(sorted(set("abc") - set(names)))


# given by the user, environment, name in the file, folder -> the project's name
NAMES = [
    (None, {}, None, "My.Folder", "myfolder"),
    (None, {}, None, None, None),
    (None, {}, "Own-Name", "folder", "own-name"),
    (None, {}, "own-${X:-1}", "folder", "own-1"),
    (None, {"COMPOSE_PROJECT_NAME": "env"}, "own", "folder", "env"),
    ("given", {"COMPOSE_PROJECT_NAME": "env"}, "own", "folder", "given"),
    (None, {"COMPOSE_PROJECT_NAME": ""}, "own", "folder", "own"),
]


@pytest.mark.parametrize(("given", "environ", "own", "folder", "name"), NAMES)
def test_the_name_of_a_project(
    given: str | None, environ: dict[str, str], own: str | None, folder: str | None, name: str | None
) -> None:
    yaml = ("" if own is None else f"name: {own}\n") + "services: {a: {image: x}}\n"
    loaded = load(Source("f", yaml), environ=environ, name=given, default_name=folder)
    assert loaded.name == name


def test_normalized_names() -> None:
    assert [normalized_name(text) for text in ("A b.C", "_-x_-", "Ünï", "9x")] == ["abc", "x_-", "n", "9x"]


@pytest.mark.parametrize(
    ("own", "active", "starts"),
    [((), (), True), ((), ("p",), True), (("p",), (), False), (("p", "q"), ("q",), True), (("p",), ("*",), True)],
)
def test_profiles(own: tuple[str, ...], active: tuple[str, ...], starts: bool) -> None:
    span = Source("f", b"a").span(0, 1)
    assert Service(name="a", span=span, profiles=own).active(active) == starts


def test_errors_and_warnings_are_told_apart() -> None:
    span = Source("f", b"a").span(0, 1)
    problems = Problems()
    problems.error("e", "bad", span)
    problems.warning("w", "odd", span)
    project = Project(name=None, path="f", services={}, networks={}, problems=problems.all())
    assert [problem.code for problem in project.errors] == ["e"]
    assert [problem.code for problem in project.warnings] == ["w"]


def test_the_expression_is_pointed_at_once_per_text() -> None:
    text = 'services:\n  a:\n    image: x\n    environment: {T: 1}\n    command: ["sh", "-c", "echo $T ${T}", "$T"]\n'
    found = unescaped_variables(project_of(text))
    assert [(u.service.name, u.where, u.variable, u.span.line) for u in found] == [("a", "command", "T", 5)] * 2
    assert [text[u.span.start : u.span.end] for u in found] == ["$T", "$T"]


def test_a_variable_passed_on_without_a_value_is_nobodys() -> None:
    text = "services:\n  a:\n    image: x\n    environment: [T]\n    command: sh -c 'echo $T'\n"
    assert unescaped_variables(project_of(text)) == ()
