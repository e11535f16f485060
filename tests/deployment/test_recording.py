"""Recordings: looks as a document and back, values as JSON, and secrets that are in neither."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import pytest

from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Answered, Cell, Failed, NodeEndpoint, Reason, Unknown, judge
from netdiag.deployment.observation.recording import (
    FORMAT,
    HIDDEN,
    VERSION,
    Failure,
    Look,
    NotTaken,
    decode,
    encode,
    from_json,
    is_secret,
    masked,
    masked_source,
    masked_text,
    seen_cells,
    to_json,
)
from netdiag.deployment.observation.registered import Registered, SaidNow, SeenNode
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh
from netdiag.deployment.sources.declared_services import DeclaredService, DeclaredServices, DeclaredText
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import parse_container
from netdiag.errors import InputError
from netdiag.kafka.listeners import Endpoint
from netdiag.kafka.registry import RegisteredNode, Registry, RegistryKind
from netdiag.kafka.storage import MetaProperties
from netdiag.linux.sockets import ListeningSocket

SOCKET = ListeningSocket(address="::", port=9092, inode=7)
KAFKA = parse_container(
    {
        "Id": "a" * 64,
        "Name": "/shop-kafka-1",
        "State": {"Status": "running", "Pid": 7},
        "Config": {
            "Image": "apache/kafka:3.9.1",
            "Cmd": ["/etc/kafka/docker/run", "--password", "hunter2"],
            "Env": ["KAFKA_NODE_ID=1", "KAFKA_SSL_KEY_PASSWORD=hunter2", "OPTS=-Dx.password=hunter2 -Xmx1g"],
            "Labels": {"com.docker.compose.service": "kafka", "com.docker.compose.project": "shop", "token": "hunter2"},
        },
    }
)
DATABASE = replace(
    KAFKA, id="b" * 64, name="db", image="postgres:16", environment={"PGPASS": "hunter2"}, command=("db", "hunter2")
)
ADDRESS = Address(host="kafka", port=9092)
TOLD = NodeEndpoint(node_id=1, host="localhost", port=9092)
ANSWER = Answered(
    node_id=1, cluster_id="c", brokers=(TOLD,), listener="PLAINTEXT", ip="172.18.0.2", because="it said so"
)
REFUSED = Failed(reason=Reason.REFUSED, because="nobody there", ip="127.0.0.1")
CELLS = (
    Cell(vantage="docker host", bootstrap=ADDRESS, observed=judge(ANSWER, lambda _: REFUSED)),
    Cell(vantage="docker host", bootstrap=TOLD.address, observed=judge(Unknown(because="time"), lambda _: REFUSED)),
    Cell(vantage="nobody looked", bootstrap=ADDRESS),
)
REGISTERED = RegisteredNode(node_id=1, endpoints=(Endpoint(listener="PLAINTEXT", host="kafka", port=9092),))
LOOK = Look(
    name="compose.yml (running)",
    kind="project",
    project="shop",
    containers=(KAFKA, DATABASE),
    stopped={"kafka": "x password=hunter2 y"},
    logs={"kafka": ("first", "sasl.password = hunter2")},
    sockets={"kafka": (SOCKET,)},
    vantages=(Vantage(kind=VantageKind.DOCKER_HOST, label="docker host"),),
    addresses=(ADDRESS,),
    cells=seen_cells(CELLS),
    registered=(
        Registered(
            name="shop",
            registries=(Registry(kind=RegistryKind.ZOOKEEPER, source="ZooKeeper", brokers=(REGISTERED,)),),
            nodes=(
                SeenNode(
                    member="kafka",
                    node_id=1,
                    declared=REGISTERED.endpoints,
                    now=SaidNow(node_id=1, cluster_id="a", advertised=REGISTERED.endpoints),
                    stored=MetaProperties(version=1, cluster_id="a", node_id=1),
                ),
            ),
        ),
    ),
    not_taken=(NotTaken(vantage="inside kafka", reason="no right", command="sudo x"),),
    notes=("a note",),
    declared=DeclaredServices(
        services={
            "kafka": DeclaredService(name="kafka", where=None, environment={"A_SECRET": DeclaredText(value="hunter2")})
        }
    ),
    sources={"compose.yml": "services:\n  a:\n    environment:\n      A_SECRET: hunter2\r\n      B: 1\n"},
)


def test_there_and_back() -> None:
    failed = Look(name="x", kind="engine", failure=Failure(message="no engine"))
    document = to_json((LOOK, failed))
    looks = from_json(document.encode())
    assert to_json(looks) == document
    assert looks[1] == failed
    assert looks[0].cells == LOOK.cells
    assert looks[0].registered == LOOK.registered
    assert looks[0].observed() == CELLS[:2]
    assert (looks[0].sockets, looks[0].vantages, looks[0].not_taken) == (LOOK.sockets, LOOK.vantages, LOOK.not_taken)


def test_no_secret_is_in_it() -> None:
    document = to_json((LOOK,))
    assert "hunter2" not in document
    (look,) = from_json(document.encode())
    kafka, database = look.containers
    assert kafka.environment["KAFKA_NODE_ID"] == "1"
    assert kafka.environment["OPTS"] == "-Dx.password=[hidden] -Xmx1g"
    assert kafka.command[0] == "/etc/kafka/docker/run"
    assert database.command == ()
    assert kafka.service == "kafka"


def test_what_redpanda_is_started_with_is_there_and_back_without_secrets() -> None:
    script = "#!/bin/bash\nrpk redpanda start --advertise-kafka-addr OUTSIDE://localhost:32771 --password hunter2"
    waits = "while [ ! -f /testcontainers.sh ]; do sleep 0.1; done; /testcontainers.sh"
    started = replace(
        KAFKA,
        image="redpandadata/redpanda:v24.2.7",
        entrypoint=("sh",),
        command=("-c", waits),
        start_script=script,
        config_file="redpanda:\n  kafka_api: [{address: 0.0.0.0, port: 9092}]\n  password: hunter2\n",
    )
    document = to_json((Look(name="docker engine", kind="engine", containers=(started,), asked=(started.id,)),))
    assert "hunter2" not in document
    (look,) = from_json(document.encode())
    (before,), (after,) = (from_engine([one], []).brokers for one in (started, look.containers[0]))
    assert after.config.advertised_listeners == before.config.advertised_listeners
    assert after.config.listeners == before.config.listeners
    assert before.config.advertised_listeners


def test_a_file_stays_as_long_as_it_was() -> None:
    text = LOOK.sources["compose.yml"]
    hidden = masked_source(text)
    assert len(hidden) == len(text)
    assert hidden.splitlines()[3:] == ["      A_SECRET:" + "*" * 8, "      B: 1"]


def wrong(**fields: object) -> bytes:
    look = {"name": "x", "kind": "engine", **fields}
    return json.dumps({"format": FORMAT, "version": VERSION, "looks": [look]}).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a": ' * 100_000, "not JSON"),
        (b'{"version": NaN}', "NaN is not a number"),
        (b'{"version": ' + b"9" * 10_000 + b"}", "not JSON"),
        (b"[]", "its format is not"),
        (b'{"format": "netdiag live recording", "version": 2, "looks": []}', "does not have version 1"),
        (b'{"format": "netdiag live recording", "version": 1}', "looks is not a list"),
        (wrong(more=1), "has no 'more'"),
        (wrong(name=1), "name is not a text"),
        (wrong(kind="\ud800"), "half a character"),
        (wrong(containers=[{}]), "lacks 'id'"),
        (
            wrong(cells=[{"vantage": "a", "bootstrap": {"host": "a", "port": "1"}, "contact": {}}]),
            "port is not a number",
        ),
        (wrong(cells=[{"vantage": "a", "bootstrap": {"host": "a", "port": 1}, "contact": {"is": "Look"}}]), "one of"),
    ],
)
def test_what_is_no_recording_is_refused_in_one_line(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        from_json(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_more_containers_than_any_machine_runs_are_refused() -> None:
    many = tuple(replace(DATABASE, environment={}) for _ in range(2001))
    with pytest.raises(InputError, match="more than 2000 containers"):
        from_json(to_json((Look(name="x", kind="engine", containers=many),)).encode())


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    text: str
    colour: Colour
    when: datetime
    pair: tuple[str, int]
    some: tuple[Inner, ...] = ()
    names: frozenset[str] = frozenset()
    by_name: Mapping[str, Inner | None] = field(default_factory=dict)
    one_of: Inner | Other | None = None
    ratio: float = 0.5
    flag: bool = False


FULL = Everything(
    text="ü\u202e",
    colour=Colour.RED,
    when=datetime(2030, 1, 2, tzinfo=UTC),
    pair=("a", 1),
    some=(Inner(number=1), Inner(number=-2)),
    names=frozenset({"b", "a"}),
    by_name={"x": Inner(number=3), "y": None},
    one_of=Other(text=""),
    ratio=2.0,
    flag=True,
)


def test_a_value_there_and_back() -> None:
    document = json.loads(json.dumps(encode(FULL, Everything)))
    assert document["one_of"] == {"is": "Other", "text": ""}
    assert document["names"] == ["a", "b"]
    assert decode(document, Everything) == FULL


def test_edges_with_what_was_predicted_and_seen() -> None:
    told = (NodeEndpoint(node_id=1, host="k", port=1),)
    edge = Edge(
        kind=EdgeKind.INTER_BROKER,
        source="a",
        target="b",
        address=Address(host="b", port=9092),
        predicted=Answered(node_id=1, cluster_id=None, brokers=told),
        observed=Failed(reason=Reason.TIMEOUT, because="x"),
    )
    mesh = Mesh(edges=(edge,), skipped=(("c", "no right"),))
    assert decode(json.loads(json.dumps(encode(mesh, Mesh))), Mesh) == mesh


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": 1}, "it.text is not a text"),
        ({"text": "\ud800"}, "it.text contains half a character"),
        ({"colour": "blue"}, "it.colour is not one of red"),
        ({"colour": ["red"]}, "it.colour is not one of red"),
        ({"when": "soon"}, "it.when is not a time"),
        ({"pair": ["a"]}, "it.pair is not a list of 2"),
        ({"pair": ["a", True]}, r"it.pair\[1\] is not a number"),
        ({"some": {}}, "it.some is not a list"),
        ({"some": [{"number": 10**30}]}, "number is too large"),
        ({"some": [{"number": 1, "more": 2}]}, r"it.some\[0\] has no 'more'"),
        ({"some": [{}]}, "lacks 'number'"),
        ({"by_name": {"x": 1}}, "it.by_name.x is not an object"),
        ({"one_of": {"is": "Everything"}}, "it.one_of is not one of Inner, Other"),
        ({"one_of": {"text": ""}}, "it.one_of is not one of Inner, Other"),
        ({"ratio": "1"}, "it.ratio is not a number"),
        ({"flag": 1}, "it.flag is not true or false"),
    ],
)
def test_what_is_no_such_value_is_said_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decode({**encode(FULL, Everything), **change}, Everything)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KAFKA_SSL_KEYSTORE_PASSWORD", "hunter2"),
        ("DB_PASS", "hunter2"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("KAFKA_LISTENER_NAME_X_PLAIN_SASL_JAAS_CONFIG", 'required user_a="hunter2" password="hunter2";'),
        ("GITHUB_TOKEN", "hunter2"),
        ("KAFKA_CLIENT_USERS", "hunter2"),
        ("CONFLUENT_LICENSE", "hunter2"),
        ("JAVA_OPTS", "-Djavax.net.ssl.keyStorePassword=hunter2 -Xmx1g"),
        ("URL", "postgres://me:hunter2@db/x"),
        ("CONFIG", '{"sasl.password": "hunter2", "a": 1}'),
        ("PROPS", 'x required user_alice="hunter2" ;'),
        ("CMD", "redis-server --requirepass hunter2"),
        ("KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL", "http://me:hunter2@keycloak/token"),
        ("KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL", "http://keycloak/token?client_secret=hunter2"),
    ],
)
def test_secrets_are_hidden(name: str, value: str) -> None:
    assert is_secret(name, value)
    assert "hunter2" not in masked(name, value)
    assert HIDDEN in masked(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KAFKA_ADVERTISED_LISTENERS", "SASL_SSL://kafka:9092"),
        ("KAFKA_SSL_KEYSTORE_FILENAME", "kafka.jks"),
        ("KAFKA_SSL_KEYSTORE_CREDENTIALS", "key_creds"),
        ("KAFKA_SSL_KEYSTORE_LOCATION", "/etc/kafka.jks"),
        ("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "A:PLAINTEXT,B:SASL_SSL"),
        ("KAFKA_PASSWORD", ""),
        ("KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL", "http://keycloak:8080/realms/x/token"),
        ("ANY", "sasl.oauthbearer.token.endpoint.url=http://keycloak:8080/token"),
    ],
)
def test_what_is_no_secret_stays(name: str, value: str) -> None:
    assert masked(name, value) == value


def test_a_text_that_is_too_long_is_cut() -> None:
    assert masked_text("a" * 30_000).endswith(HIDDEN)
