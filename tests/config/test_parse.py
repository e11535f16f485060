"""Strict reading: what is accepted, what is refused with which words at which line, and that the schema agrees."""

import json
import time
import tomllib
from pathlib import Path

import jsonschema
import pytest

import netdiag.config
from netdiag.config import ClientAddress, ExternalNetwork
from netdiag.config.parse import KEYS, NETWORK_KEYS, TABLE, column_of, line_of, parse
from netdiag.errors import UsageError
from netdiag.findings import Severity

TEXT = """\
# select = 1
select = [
  "kraft-",
  'listener-',
]
per-file-ignores = { "a/b.yml" = ["x"] }
images."reg.example:5000/k" = "i"

[severity]  # how bad
kraft-role-invalid = "note"

[external-networks."my net"]
members = ["z"]
[[odd]]
deep.er = 1
"""


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (["select"], None, 2),
        (["select"], "kraft-", 3),
        (["select"], "listener-", 4),
        (["select"], "not there", 2),
        (["per-file-ignores"], None, 6),
        (["per-file-ignores", "a/b.yml"], None, 6),
        (["images"], None, 7),
        (["images", "reg.example:5000/k"], None, 7),
        (["severity"], None, 9),
        (["severity", "kraft-role-invalid"], None, 10),
        (["external-networks", "my net"], None, 12),
        (["external-networks", "my net", "members"], "z", 13),
        (["external-networks"], None, 12),
        (["odd", "deep", "er"], None, 15),
        (["nowhere"], None, None),
    ],
)
def test_lines(path: list[str], value: str | None, line: int | None) -> None:
    assert line_of(TEXT, path, value) == line


def test_columns() -> None:
    assert column_of(TEXT, 3, "kraft-") == 4
    assert column_of(TEXT, 3, "listener-") is None


def test_carriage_returns_are_no_part_of_a_header() -> None:
    assert line_of("[a]\r\nb = 1\r\n", ["a", "b"]) == 2


def test_a_hostile_file_is_searched_in_little_time() -> None:
    begin = time.process_time()
    line_of('"\\' * 100_000 + "\n" + "a." * 50_000 + "\n" + " " * 100_000, ["x"])
    line_of("a = 1\n" * 40_000, ["x"])
    assert time.process_time() - begin < 5


SCHEMA = json.loads((Path(netdiag.config.__file__).parent / "schema/netdiag.v1.json").read_text(encoding="utf-8"))

WHOLE = """\
select = ["all"]
ignore = ["kraft-", "unused-ignore"]
fail-on = "warning"
profiles = ["kafka"]
env-files = ["ci.env", "../x.env"]
docker-host-ip = ["192.168.1.20", "fd00::1"]
docker-desktop = false
host_clients = ["localhost:9092", "[::1]:9093"]
lan-clients = ["kafka.example.com:9092"]

[severity]
"kraft-" = "note"

[per-file-ignores]
"examples/**" = ["kraft-role-invalid"]

[images]
"registry.example/our-kafka" = "confluentinc/cp-kafka:7.9.2"

[assume-resolves]
"Kafka.example." = "10.0.0.7"
"*" = ""
[external-networks.shared]
members = ["zookeeper"]
subnets = ["10.9.0.0/16"]
[external_networks.other]
"""
# The same key in two spellings would be given twice.
WHOLE = WHOLE.replace("external_networks.other", "external-networks.other")


def known(pattern: str) -> None:
    if pattern not in ("all", "kraft-", "unused-ignore", "kraft-role-invalid"):
        raise ValueError(f"no rule is called {pattern!r}")


def refused(text: str | bytes, table: tuple[str, ...] = ()) -> str:
    with pytest.raises(UsageError) as caught:
        parse("netdiag.toml", text.encode() if isinstance(text, str) else text, known, table=table)
    return str(caught.value)


def test_the_whole_of_it() -> None:
    found = parse("netdiag.toml", WHOLE.encode(), known)
    assert found is not None
    assert (found.path, found.select, found.ignore) == ("netdiag.toml", ("all",), ("kraft-", "unused-ignore"))
    assert (found.fail_on, found.severities) == (Severity.WARNING, {"kraft-": Severity.NOTE})
    assert found.per_file_ignores == {"examples/**": ("kraft-role-invalid",)}
    assert (found.profiles, found.env_files) == (("kafka",), ("ci.env", "../x.env"))
    facts = found.facts
    assert (facts.host_addresses, facts.docker_desktop) == (("192.168.1.20", "fd00::1"), False)
    assert [(c.host, c.port) for c in facts.host_clients] == [("localhost", 9092), ("::1", 9093)]
    assert [(c.host, c.port) for c in facts.lan_clients] == [("kafka.example.com", 9092)]
    assert facts.resolves == {"kafka.example": "10.0.0.7", "*": ""}
    assert facts.images == {"registry.example/our-kafka": "confluentinc/cp-kafka:7.9.2"}
    assert facts.external_networks == {
        "shared": ExternalNetwork(members=("zookeeper",), subnets=("10.9.0.0/16",)),
        "other": ExternalNetwork(),
    }


def test_a_client_knows_its_place() -> None:
    text = '# ä\nhost-clients = [\n  "localhost:9092",\n]\n'
    found = parse("netdiag.toml", text.encode(), known)
    assert found is not None
    (client,) = found.facts.host_clients
    assert isinstance(client, ClientAddress)
    assert client.where is not None
    assert text.encode()[client.where.start : client.where.end] == b"localhost:9092"
    assert (client.where.line, client.where.column) == (3, 4)


def test_a_table_of_another_file() -> None:
    assert parse("pyproject.toml", b'[tool.other]\nnetdiag = "x"\n', known, table=TABLE) is None
    assert parse("pyproject.toml", b"tool = 1\n", known, table=TABLE) is None
    found = parse(
        "pyproject.toml", b'[tool.netdiag]\nselect = ["kraft-"]\n[tool.netdiag.severity]\n', known, table=TABLE
    )
    assert found is not None
    assert found.select == ("kraft-",)
    said = refused("[project]\n[tool.netdiag]\nfail-on = 1\n", TABLE)
    assert said == "netdiag.toml:3: fail-on must be error, warning, note, not int"


# text, what is said; whether the schema sees it, too
REFUSED = [
    ('\nselct = ["x"]', "netdiag.toml:2: unknown key 'selct'; did you mean \"select\"?", True),
    ('qqq = ["x"]', f"netdiag.toml:1: unknown key 'qqq'; there are {', '.join(KEYS)}", True),
    ('host-clients = []\nhost_clients = ["a:1"]', "netdiag.toml:2: host-clients is set twice", False),
    ('select = [\n"kraft-",\n"nonsense"]', "netdiag.toml:3: no rule is called 'nonsense'", False),
    ('ignore = "kraft-"', "netdiag.toml:1: ignore must be a list of strings", True),
    ("ignore = [1]", "netdiag.toml:1: ignore must be a list of strings", True),
    ('ignore = [""]', "netdiag.toml:1: ignore must be a list of strings", True),
    ('[severity]\nkraft-role-invalid = "bad"', "must be error, warning, note, not 'bad'", True),
    ('[severity]\nnonsense = "note"', "netdiag.toml:2: no rule is called 'nonsense'", False),
    ("severity = 1", "netdiag.toml:1: severity must be a table", True),
    ("fail-on = []", "netdiag.toml:1: fail-on must be error, warning, note, not list", True),
    ('[per-file-ignores]\n"a" = "kraft-"', "netdiag.toml:2: per-file-ignores.a must be a list of strings", True),
    ("docker-desktop = 1", "netdiag.toml:1: docker-desktop must be true or false", True),
    ('docker-host-ip = "x"', "must be addresses like 192.168.1.20, not 'x'", False),
    ('host-clients = ["localhost"]', "must be addresses like localhost:9092, not 'localhost'", True),
    ('host-clients = ["localhost:99999"]', "must be addresses like localhost:9092, not 'localhost:99999'", False),
    ('lan-clients = ["PLAINTEXT://a:1"]', "must be addresses like localhost:9092", True),
    ("[images]\na = 1", "netdiag.toml:2: images.a must be an image", True),
    ('[external-networks.x]\nsubnets = ["10.1"]', "netdiag.toml:2: external-networks.x.subnets must be subnets", False),
    ("[external-networks.x]\nmember = []", "unknown key 'member'; did you mean \"members\"?", True),
    ('assume-resolves.x = "y"', "netdiag.toml:1: assume-resolves.x must be an address", False),
    ("assume-resolves.x = 1", "netdiag.toml:1: assume-resolves.x must be an address", False),
    ("external-networks.x = true", "netdiag.toml:1: external-networks.x must be a table", True),
]


@pytest.mark.parametrize(("text", "said", "in_schema"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(text: str, said: str, in_schema: bool) -> None:
    assert said in refused(text)
    assert "\n" not in refused(text)
    assert list(validator().iter_errors(tomllib.loads(text))) != [] or not in_schema


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = [", "netdiag.toml:1: not TOML: "),
        ("a = 1\n\na = 2", "netdiag.toml:3: not TOML: "),
        (b"a = 1\nb = '\xff'", "netdiag.toml:2: not UTF-8"),
        ("a = " + "[" * 5000, "netdiag.toml"),
        ("a = " + "9" * 5000, "netdiag.toml"),
    ],
)
def test_what_is_not_toml(text: str | bytes, said: str) -> None:
    assert said in refused(text)


def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one_and_accepts_what_is_accepted() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator().validate(tomllib.loads(WHOLE))


def test_the_schema_names_the_keys_in_both_spellings() -> None:
    assert set(SCHEMA["properties"]) == {spelt for key in KEYS for spelt in (key, key.replace("-", "_"))}
    networks = SCHEMA["properties"]["external-networks"]["additionalProperties"]
    assert set(networks["properties"]) == set(NETWORK_KEYS)
