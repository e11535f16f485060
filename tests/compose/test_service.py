"""The fields of a service and of networks: ports, volumes, variables, attachments."""

import pytest

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import load
from netdiag.compose.positions import Source, literal
from netdiag.compose.project import Command, EnvironmentVariable, Network, Service
from netdiag.compose.service import PortError, is_ip, parse_port
from tests.compose.tracing import cut, project


def service(fields: str) -> Service:
    return project(f"services: {{a: {{image: x, {fields}}}, b: {{image: x}}}}").services["a"]


def words(command: Command) -> object:
    return (
        [word.value for word in command] if isinstance(command, tuple) else None if command is None else command.value
    )


@pytest.mark.parametrize("field", ["command", "entrypoint"])
def test_commands(field: str) -> None:
    for written, said in {"[a, 'b c']": ["a", "b c"], "a b": "a b", "[]": [], "": None}.items():
        assert words(getattr(service(f"{field}: {written}"), field)) == said


def test_healthchecks() -> None:
    assert words(service("healthcheck: {test: [CMD, a]}").healthcheck) == ["CMD", "a"]
    assert words(service("healthcheck: {test: a b}").healthcheck) == "a b"
    assert service("healthcheck: {disable: true}").healthcheck_disabled


def test_extra_hosts() -> None:
    found = service("extra_hosts: ['a:1.2.3.4', 'b=::1', 'c=[::2]', 'd:host-gateway', 'e=1,2']").extra_hosts
    assert [(host.name, host.address) for host in found] == [
        ("a", "1.2.3.4"), ("b", "::1"), ("c", "::2"), ("d", "host-gateway"), ("e", "1"), ("e", "2"),
    ]  # fmt: skip
    found = service("extra_hosts: {a: 1.2.3.4, b: ['::1', '::2']}").extra_hosts
    assert [(host.name, host.address) for host in found] == [("a", "1.2.3.4"), ("b", "::1"), ("b", "::2")]


def test_links_and_dependencies() -> None:
    found = service("links: [b, 'b:c'], external_links: [z], depends_on: [b]")
    assert [(link.service, link.alias) for link in found.links] == [("b", "b"), ("b", "c")]
    assert [text.value for text in found.external_links] == ["z"]
    assert [(d.service, d.condition, d.required) for d in found.depends_on] == [("b", "service_started", True)]
    found = service("depends_on: {b: {condition: service_healthy, required: false}}")
    assert [(d.service, d.condition, d.required) for d in found.depends_on] == [("b", "service_healthy", False)]


# entry -> type, source, host path, target, read only; None where compose refuses it
VOLUMES: list[tuple[str, tuple[str, str | None, str | None, str, bool] | None]] = [
    ("/d", ("volume", None, None, "/d", False)),
    ("./h:/t", ("bind", "./h", "./h", "/t", False)),
    ("/h:/t:ro", ("bind", "/h", "/h", "/t", True)),
    ("~/h:/t:rw,z", ("bind", "~/h", "~/h", "/t", False)),
    ("vol:/t", ("volume", "vol", None, "/t", False)),
    ("C:\\h:/t", ("bind", "C:\\h", "C:\\h", "/t", False)),
    ("C:\\h:D:\\t:ro", ("bind", "C:\\h", "C:\\h", "D:\\t", True)),
    ("one::two", None),
    ("one:two:ro:x1", None),
    ("", None),
]


@pytest.mark.parametrize(("entry", "volume"), VOLUMES)
def test_volumes(entry: str, volume: tuple[object, ...] | None) -> None:
    yaml = f"services: {{a: {{image: x, volumes: ['{entry}']}}}}\nvolumes: {{vol: }}"
    loaded = project(yaml)
    found = [
        (v.type, v.source.value if v.source else None, v.host_path, v.target, v.read_only)
        for v in loaded.services["a"].volumes
    ]
    assert found == ([] if volume is None else [volume])
    assert bool(loaded.errors) == (volume is None)
    for each in loaded.services["a"].volumes:
        if each.source is not None:
            assert cut(yaml.encode(), each.source.span) == each.source.value


def test_long_volumes() -> None:
    (found,) = service("volumes: [{type: bind, source: ./h, target: /t, read_only: true}]").volumes
    assert (found.type, found.host_path, found.target, found.read_only) == ("bind", "./h", "/t", True)


def test_scale() -> None:
    assert [service(text).scale for text in ("hostname: h", "scale: 3", "deploy: {replicas: 2}", "scale: '4'")] == [
        1,
        3,
        2,
        4,
    ]


def test_names_and_labels() -> None:
    found = service(
        "build: ., hostname: h, domainname: d, container_name: c, labels: [l=1, m], profiles: [p, p], dns: 1.1.1.1"
    )
    assert (found.build, str(found.hostname), str(found.domainname), str(found.container_name)) == (True, "h", "d", "c")
    assert {key: text.value for key, text in found.labels.items()} == {"l": "1", "m": ""}
    assert found.profiles == ("p",)
    assert [text.value for text in found.dns] == ["1.1.1.1"]


# entry -> (host_ip, published, target, protocol) of each port
SHORT = [
    ("80", [("", None, 80, "tcp")]),
    ("8080:80", [("", 8080, 80, "tcp")]),
    ("8080:80/udp", [("", 8080, 80, "udp")]),
    ("8080:80/TCP", [("", 8080, 80, "tcp")]),
    ("80/sctp", [("", None, 80, "sctp")]),
    ("127.0.0.1:8080:80", [("127.0.0.1", 8080, 80, "tcp")]),
    ("127.0.0.1::80", [("127.0.0.1", None, 80, "tcp")]),
    ("0.0.0.0:9092:9092", [("0.0.0.0", 9092, 9092, "tcp")]),
    ("[::1]:8080:80", [("::1", 8080, 80, "tcp")]),
    ("::1:8080:80", [("::1", 8080, 80, "tcp")]),
    ("[::]:8080:80/udp", [("::", 8080, 80, "udp")]),
    ("[::1]::80", [("::1", None, 80, "tcp")]),
    (":80", [("", None, 80, "tcp")]),
    ("::80", [("", None, 80, "tcp")]),
    ("3000-3002", [("", None, 3000, "tcp"), ("", None, 3001, "tcp"), ("", None, 3002, "tcp")]),
    ("3000-3001:4000-4001", [("", 3000, 4000, "tcp"), ("", 3001, 4001, "tcp")]),
    ("8000-9000:80", [("", None, 80, "tcp")]),
    (
        "127.0.0.1:5000-5001:6000-6001/udp",
        [("127.0.0.1", 5000, 6000, "udp"), ("127.0.0.1", 5001, 6001, "udp")],
    ),
    ("65535:65535", [("", 65535, 65535, "tcp")]),
    ("0:80", [("", None, 80, "tcp")]),
    ("80-81-82", [("", None, 80, "tcp"), ("", None, 81, "tcp")]),
]

# entry -> the characters that are wrong
WRONG = [
    ("", ""),
    (":", ":"),
    ("8080:", "8080:"),
    ("x", "x"),
    ("80x", "80x"),
    ("x:80", "x"),
    ("65536", "65536"),
    ("8080:65536", "65536"),
    ("80/http", "http"),
    ("80/tcp/udp", "tcp/udp"),
    ("localhost:80:80", "localhost"),
    ("256.0.0.1:80:80", "256.0.0.1"),
    ("1:2:3", "1"),
    ("1:2:3:4", "1:2"),
    ("[::1:80:80", "[::1"),
    ("3000-2999:80", "3000-2999"),
    ("3000-3002:80-81", "3000-3002:80-81"),
    ("0", "0"),
    ("1:0", "0"),
    ("80 :80", "80 "),
    ("-80", "-80"),
    ("٨٠", "٨٠"),
]


@pytest.mark.parametrize(("entry", "ports"), SHORT)
def test_the_short_syntax(entry: str, ports: list[tuple[str, int | None, int, str]]) -> None:
    found = parse_port(literal(entry))
    assert [(p.host_ip, p.published, p.target, p.protocol) for p in found] == ports
    for port in found:
        assert port.ephemeral == (port.published is None)
        assert port.target_span is not None
        assert str(ports[0][2]) in cut(entry.encode(), port.target_span)
        if port.host_ip:
            assert port.host_ip_span is not None
            assert port.host_ip in cut(entry.encode(), port.host_ip_span)
        if port.published is not None:
            assert port.published_span is not None
            assert str(found[0].published) in cut(entry.encode(), port.published_span)


@pytest.mark.parametrize(("entry", "characters"), WRONG)
def test_what_compose_refuses(entry: str, characters: str) -> None:
    with pytest.raises(PortError) as caught:
        parse_port(literal(entry))
    assert entry[caught.value.start : caught.value.end] == characters


# entry of the long syntax -> (host_ip, published, range, target, protocol) or None when refused, the short form
LONG = [
    ("{target: 80}", ("", None, None, 80, "tcp"), "80"),
    ("{target: 80, published: 8080}", ("", 8080, None, 80, "tcp"), "8080:80"),
    ("{target: '80', published: '8080', protocol: udp}", ("", 8080, None, 80, "udp"), "8080:80/udp"),
    ("{target: 80, published: '8000-9000'}", ("", None, (8000, 9000), 80, "tcp"), "8000-9000:80"),
    ("{target: 80, published: 1, host_ip: 127.0.0.1}", ("127.0.0.1", 1, None, 80, "tcp"), "127.0.0.1:1:80"),
    ("{target: 80, host_ip: '::1'}", ("::1", None, None, 80, "tcp"), "[::1]::80"),
    ("{published: 80}", None, ""),
    ("{target: x}", None, ""),
    ("{target: 80, published: x}", None, ""),
    ("{target: 80, host_ip: localhost}", None, ""),
    ("[80]", None, ""),
]


@pytest.mark.parametrize(("entry", "port", "short"), LONG)
def test_the_long_syntax(entry: str, port: tuple[object, ...] | None, short: str) -> None:
    yaml = f"services: {{a: {{image: x, ports: [{entry}]}}}}"
    loaded = project(yaml)
    found = loaded.services["a"].ports
    made = [(p.host_ip, p.published, p.published_range, p.target, p.protocol) for p in found]
    assert made == ([] if port is None else [port])
    assert bool(loaded.errors) == (port is None)
    for each in found:
        assert each.text.value == short
        assert cut(yaml.encode(), each.text.span) == entry
        assert each.text.edit_span(0, 1) is None
        assert each.target_span is not None
        assert cut(yaml.encode(), each.target_span) == "80"


def test_numbers_strings_and_variables_of_a_list() -> None:
    yaml = "services: {a: {image: x, ports: [80, '1:2', '${P:-3}:4', 80, 0:5]}}"
    found = project(yaml, environ={"P": "5"}).services["a"].ports
    assert [(p.published, p.target) for p in found] == [(None, 80), (1, 2), (5, 4), (None, 5)]
    assert found[2].published_span is not None
    assert cut(yaml.encode(), found[2].published_span) == "${P:-3}"


ADDRESSES = {
    "1.2.3.4": True, "0.0.0.0": True, "01.2.3.4": False, "1.2.3": False, "1.2.3.4.5": False, "": False,
    "::": True, "::1": True, "fe80::1": True, "1:2:3:4:5:6:7:8": True, "1:2:3:4:5:6:7": False, "1::2::3": False,
    "::ffff:1.2.3.4": True, "12345::": False, "g::": False, "1:2:3:4:5:6:7::8": False, ":": False,
}  # fmt: skip


@pytest.mark.parametrize(("address", "right"), ADDRESSES.items())
def test_addresses(address: str, right: bool) -> None:
    assert is_ip(address) == right


def network(fields: str) -> Network:
    return project(f"services: {{a: {{image: x}}}}\nnetworks: {{n: {fields}}}").networks["n"]


# fields -> name, external, internal, driver
NETWORKS = [
    ("", "p_n", False, False, None),
    ("{}", "p_n", False, False, None),
    ("{name: m}", "m", False, False, None),
    ("{external: true}", "n", True, False, None),
    ("{external: 'true', name: m}", "m", True, False, None),
    ("{external: {name: m}}", "m", True, False, None),
    ("{external: false}", "p_n", False, False, None),
    ("{internal: true, driver: macvlan}", "p_n", False, True, "macvlan"),
    ("{internal: '${X:-yes}'}", "p_n", False, True, None),
]


@pytest.mark.parametrize(("fields", "name", "external", "internal", "driver"), NETWORKS)
def test_a_network(fields: str, name: str, external: bool, internal: bool, driver: str | None) -> None:
    found = network(fields)
    assert (found.name, found.external, found.internal) == (name, external, internal)
    assert (None if found.driver is None else found.driver.value) == driver


def test_address_pools_and_options() -> None:
    found = network(
        "{ipam: {config: [{subnet: 10.0.0.0/8, gateway: 10.0.0.1}, {subnet: 'fd00::/8'}]}, driver_opts: {o: 1}}"
    )
    assert [subnet.value for subnet in found.subnets] == ["10.0.0.0/8", "fd00::/8"]
    assert found.gateway is not None
    assert found.gateway.value == "10.0.0.1"
    assert {key: text.value for key, text in found.driver_opts.items()} == {"o": "1"}


# fields of the service -> networks it is on
ATTACHED: list[tuple[str, list[str]]] = [
    ("hostname: h", ["default"]),
    ("networks: {}", ["default"]),
    ("networks: []", ["default"]),
    ("networks: [n]", ["n"]),
    ("networks: {n: , m: {}}", ["n", "m"]),
    ("network_mode: host", []),
    ("network_mode: host, networks: [n]", ["n"]),
]


@pytest.mark.parametrize(("fields", "names"), ATTACHED)
def test_what_a_service_is_on(fields: str, names: list[str]) -> None:
    yaml = f"services: {{a: {{image: x, {fields}}}}}\nnetworks: {{n: , m: }}"
    loaded = project(yaml)
    assert [attached.network for attached in loaded.services["a"].networks] == names
    assert ("default" in loaded.networks) == (names == ["default"])
    for attached in loaded.services["a"].networks:
        assert cut(yaml.encode(), attached.span) == ("a" if attached.network == "default" else attached.network)


def test_an_attachment() -> None:
    fields = "aliases: [b, c], ipv4_address: 10.0.0.5, ipv6_address: '::5', priority: 7"
    yaml = f"services: {{a: {{image: x, networks: {{n: {{{fields}}}}}}}}}"
    (attached,) = project(yaml).services["a"].networks
    assert [alias.value for alias in attached.aliases] == ["b", "c"]
    assert (str(attached.ipv4_address), str(attached.ipv6_address), attached.priority) == ("10.0.0.5", "::5", 7)
    assert cut(yaml.encode(), attached.aliases[1].span) == "c"


@pytest.mark.parametrize(
    ("yaml", "code"),
    [
        ("networks: {n: [a]}", "schema"),
        ("networks: {n: {ipam: {config: [a]}}}", "schema"),
        ("networks: {n: {internal: maybe}}", "schema"),
        ("networks: {n: {name: m, external: {name: o}}}", "external-name"),
        ("networks: {n: {drivers: m}}", "schema"),
        ("networks: [n]", "schema"),
    ],
)
def test_networks_that_compose_refuses(yaml: str, code: str) -> None:
    assert [p.code for p in project(f"services: {{a: {{image: x}}}}\n{yaml}").errors] == [code]


YAML = """\
services:
  a:
    image: x
    env_file:
      - a.env
      - path: b.env
    environment:
      OWN: 'P://h:1'
      A: over
  b:
    image: x
    environment:
      - OWN=P://h:1   # why
      - "Q=a b"
      - EMPTY=
      - HOME
      - NOPE
"""
FILES = {"a.env": "A=1\nB=1 # no\nC=${OWN}\n", "b.env": "export B='2'\nD=$B$HOME\n"}


def spelled(variables: dict[str, EnvironmentVariable]) -> dict[str, str | None]:
    return {name: None if v.value is None else v.value.value for name, v in variables.items()}


def test_env_files_then_environment() -> None:
    variables = dict(project(YAML, environ={"HOME": "/h"}, files=FILES).services["a"].environment)
    assert spelled(variables) == {"A": "over", "B": "2", "C": "P://h:1", "D": "1/h", "OWN": "P://h:1"}
    assert {name: v.form for name, v in variables.items()} == {
        "A": "map", "B": "env_file", "C": "env_file", "D": "env_file", "OWN": "map",
    }  # fmt: skip
    b = variables["B"]
    assert cut(FILES["b.env"].encode(), b.key_span) == "B"
    assert cut(FILES["b.env"].encode(), b.entry_span) == "B='2'"
    assert b.via is not None
    assert cut(YAML.encode(), b.via) == "b.env"
    assert [cut(FILES["a.env"].encode(), span) for span in b.shadowed] == ["B=1"]
    assert [span.path for span in variables["A"].shadowed] == ["a.env"]


def test_places_of_both_forms() -> None:
    data = YAML.encode()
    loaded = project(YAML, files=FILES)
    own = loaded.services["a"].environment["OWN"]
    assert [cut(data, span) for span in (own.key_span, own.entry_span)] == ["OWN", "OWN: 'P://h:1'"]
    listed = loaded.services["b"].environment
    assert [cut(data, span) for v in (listed["OWN"], listed["Q"]) for span in (v.key_span, v.entry_span)] == [
        "OWN", "OWN=P://h:1", "Q", '"Q=a b"',
    ]  # fmt: skip
    value = listed["OWN"].value
    assert value is not None
    assert cut(data, value.span) == "P://h:1"
    assert cut(data, value.span_of(4, 5)) == "h"
    assert cut(data, value.span_of(6, 7)) == "1"
    empty = listed["EMPTY"].value
    assert empty is not None
    assert empty.value == ""
    place = empty.edit_span(0, 0)
    assert place is not None
    assert data[place.start - 6 : place.start] == b"EMPTY="


def test_bare_names_pass_the_environment_through() -> None:
    listed = project(YAML, environ={"HOME": "/h"}, files=FILES).services["b"].environment
    assert spelled(dict(listed)) == {"OWN": "P://h:1", "Q": "a b", "EMPTY": "", "HOME": "/h", "NOPE": None}
    home = listed["HOME"].value
    assert home is not None
    assert home.segments[0].variable == "HOME"
    assert home.edit_span(0, 2) is None
    dotenv = load_dotenv(Source(".env", "X='a'\n"), {})
    yaml = "services: {a: {image: x, environment: {X: , Y: ~}}}"
    variables = load(Source("f", yaml), dotenv=dotenv).services["a"].environment
    assert spelled(dict(variables)) == {"X": "a", "Y": None}
    assert variables["X"].value is not None
    span = variables["X"].value.edit_span(0, 1)
    assert span is not None
    assert (span.path, span.start) == (".env", 3)


def test_a_bad_env_file_is_a_problem_at_its_line() -> None:
    loaded = project("services: {a: {image: x, env_file: a.env}}", files={"a.env": "A=1\nB='2\n"})
    (problem,) = loaded.errors
    assert (problem.code, problem.span.path, problem.span.line) == ("env-file", "a.env", 2)
    assert problem.related[0].path == "compose.yaml"


def test_numbers_are_spelled_as_compose_spells_them() -> None:
    yaml = "services: {a: {image: x, environment: {A: 1.50, B: 9092, C: true, D: 0x10, E: '1.50'}}}"
    variables = project(yaml).services["a"].environment
    assert spelled(dict(variables)) == {"A": "1.5", "B": "9092", "C": "true", "D": "16", "E": "1.50"}
    assert [v.value is not None and v.value.edit_span(0, 1) is not None for v in variables.values()] == [
        False, True, True, False, True,
    ]  # fmt: skip
