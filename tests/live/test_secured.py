"""TLS and SASL on a real broker: netdiag's client gets what Java's gets, and says of certificates what openssl says.

The broker has a listener for every kind of certificate and login. The certificates are made anew each time. The broker
is asked from a client container on its network, where its name is kafka.lab (and b1.kafka.lab) and its address
10.96.4.10; listeners advertise one of these.
"""

import json
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from netdiag.deployment.model.verdict import Address, Failed, Reason
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.io.engine.live_deployment import read_live
from netdiag.io.network.client_identity import read_client
from netdiag.io.network.observation import Observed, observe
from netdiag.io.network.rest_neighbours import read_neighbours
from netdiag.kafka.security import CertificateFault, ListenerSecurity
from netdiag.linux.netns import ProcessNamespace
from tests.deployment.stacks import deployment_of
from tests.figures import Report
from tests.io.network.authorities import Issued, authority, issue
from tests.lab.java_tools import JavaTools
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.lab.vantages import Vantage, same_network
from tests.tools import tool

NAME, DEEPER, IP = "kafka.lab", "b1.kafka.lab", "10.96.4.10"
UNDERSCORE = "kafka_lab"
_HOSTS = {"HOSTSTAR": DEEPER, "UNDERSCORE": UNDERSCORE}
USER, PASSWORD, WRONG = "alice", "alice-secret-7", "wrong-secret-8"
OTHER_USER, NOBODY, FORMATTED = "bob", "carol", "dave"
# What creates the users of SCRAM, in files and on the broker.
CREATING = [
    f"--bootstrap-server {NAME}:9092 --alter --entity-type users --entity-name {user} "
    f"--add-config {mechanism}=[password={PASSWORD}]".split()
    for user, mechanism in ((USER, "SCRAM-SHA-256"), (USER, "SCRAM-SHA-512"), (OTHER_USER, "SCRAM-SHA-512"))
]
# What formats the storage before the first start, and creates a user there; the image formats what nobody has.
FORMATTING = (
    'java -cp "$$(cat /opt/kafka/classpath)" kafka.tools.StorageTool format -t 5L6g3nShT-eMCtK--X86sw '
    f"-c /secrets/storage.properties --add-scram 'SCRAM-SHA-512=[name={FORMATTED},password={PASSWORD}]' "
    "&& exec /etc/kafka/docker/run"
)
_STORAGE = """\
node.id=1
process.roles=broker,controller
controller.quorum.voters=1@kafka:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=/tmp/kafka-logs
"""
_PLAIN, _SCRAM = (f"org.apache.kafka.common.security.{n}LoginModule" for n in ("plain.Plain", "scram.Scram"))
_MODULES = {"PLAIN": _PLAIN, "SCRAM-SHA-256": _SCRAM, "SCRAM-SHA-512": _SCRAM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A listener of the broker: its certificate (None: no TLS) and what it asks of clients."""

    name: str
    port: int
    protocol: str = "SSL"
    certificate: Issued | None = None
    host: str = NAME
    mechanisms: tuple[str, ...] = ()
    needs_client: bool = False
    with_issuers: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client's settings; `trusts` names an authority of the world."""

    protocol: str
    trusts: str = "root"
    mechanism: str = ""
    user: str = USER
    password: str = PASSWORD
    has_certificate: bool = False
    checks_names: bool = True


@dataclass(slots=True, kw_only=True)
class World:
    """The certificates, the listeners, and the files of both."""

    folder: Path
    authorities: dict[str, Issued] = field(default_factory=dict)
    listeners: dict[str, Listener] = field(default_factory=dict)

    def properties(self, client: Client) -> str:
        """A client.properties file, as the Java tools take it; certificates stand in it."""
        lines = [f"security.protocol={client.protocol}", "request.timeout.ms=15000"]
        lines += ["default.api.timeout.ms=15000"]
        if client.protocol.endswith("SSL"):
            pem = self.authorities[client.trusts].pem.decode()
            lines += ["ssl.truststore.type=PEM", f"ssl.truststore.certificates={_one_line(pem)}"]
            if not client.checks_names:
                lines.append("ssl.endpoint.identification.algorithm=")
            if client.has_certificate:
                own = issue("client", by=self.authorities["root"])
                lines += ["ssl.keystore.type=PEM", f"ssl.keystore.key={_one_line(own.key_pem().decode())}"]
                lines.append(f"ssl.keystore.certificate.chain={_one_line(own.pem.decode())}")
        if client.mechanism:
            module = f'{_MODULES[client.mechanism]} required username="{client.user}" password="{client.password}";'
            lines += [f"sasl.mechanism={client.mechanism}", f"sasl.jaas.config={module}"]
        return "\n".join(lines) + "\n"


def _one_line(pem: str) -> str:
    return pem.strip().replace("\n", "\\n")


def make(folder: Path) -> World:
    """The world with its compose file and keystores in `folder`."""
    root = authority("Lab Root")
    other = authority("Another Root")
    sub = authority("Lab Sub", by=root)
    own = issue("kafka", names=[NAME])
    stale = issue("kafka", names=[NAME], valid=(-30, -1))
    world = World(folder=folder, authorities={"root": root, "other": other, "own": own, "stale": stale})
    named = {"by": root, "names": [NAME]}
    certificates: Mapping[str, Issued] = {
        "GOOD": issue("kafka", **named),  # type: ignore[arg-type]
        "CHAINED": issue("kafka", by=sub, names=[NAME]),
        "GAPPED": issue("kafka", by=sub, names=[NAME]),
        "ELSEWHERE": issue("kafka", by=root, names=["other.lab"]),
        "EXPIRED": issue("kafka", **named, valid=(-30, -1)),  # type: ignore[arg-type]
        "EARLY": issue("kafka", **named, valid=(10, 30)),  # type: ignore[arg-type]
        "STRANGE": issue("kafka", by=other, names=[NAME]),
        "ALONE": own,
        "STALE": stale,
        "WEAK": issue("kafka", **named, bits=1024),  # type: ignore[arg-type]
        "STAR": issue("kafka", by=root, names=["*.lab"]),
        "DEEPSTAR": issue("kafka", by=root, names=["*.kafka.lab"]),
        "HOSTSTAR": issue("kafka", by=root, names=["*.kafka.lab"]),
        "ADDRESS": issue("kafka", by=root, addresses=[IP]),
        "ADDRESSOTHER": issue("kafka", by=root, addresses=["10.96.4.99"]),
        "ADDRESSNAMED": issue("kafka", by=root, names=[IP]),
        "COMMON": issue(NAME, by=root),
        "COMMONOTHER": issue("kafka", by=root),
        "COMMONBESIDE": issue(NAME, by=root, names=["other.lab"]),
        "CROSSED": replace(issue("kafka", **named), key=issue("another").key),  # type: ignore[arg-type]
        "UNDERSCORE": issue("kafka", by=root, names=[UNDERSCORE]),
    }
    port = 9100
    for name, certificate in certificates.items():
        port += 1
        host = IP if name.startswith("ADDRESS") else _HOSTS.get(name, NAME)
        gap = name == "GAPPED"
        world.listeners[name] = Listener(name=name, port=port, certificate=certificate, host=host, with_issuers=not gap)
    good = certificates["GOOD"]
    both = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
    for listener in (
        Listener(name="OPEN", port=9092, protocol="PLAINTEXT"),
        Listener(name="LOGIN", port=9131, protocol="SASL_PLAINTEXT", mechanisms=both),
        Listener(name="SAFE", port=9132, protocol="SASL_SSL", certificate=good, mechanisms=both),
        Listener(name="MUTUAL", port=9133, certificate=good, needs_client=True),
        Listener(name="ONLYSCRAM", port=9134, protocol="SASL_PLAINTEXT", mechanisms=("SCRAM-SHA-512",)),
    ):
        world.listeners[listener.name] = listener
    _write(world)
    return world


def _write(world: World) -> None:
    secrets = world.folder / "secrets"
    secrets.mkdir()
    (secrets / "root.pem").write_bytes(world.authorities["root"].pem)
    (secrets / "storage.properties").write_text(_STORAGE, encoding="utf-8")
    for listener in world.listeners.values():
        if listener.certificate is not None:
            path = listener.certificate.write(secrets / f"{listener.name}.pem", with_issuers=listener.with_issuers)
            # The broker may be another user.
            path.chmod(0o644)
    (world.folder / "compose.yml").write_text(_compose(world), encoding="utf-8")


def _compose(world: World) -> str:
    listeners = world.listeners.values()
    settings = {
        "CLUSTER_ID": "5L6g3nShT-eMCtK--X86sw",
        "KAFKA_NODE_ID": "1",
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:9093",
        "KAFKA_INTER_BROKER_LISTENER_NAME": "OPEN",
        "KAFKA_LISTENERS": ",".join([*(f"{one.name}://:{one.port}" for one in listeners), "CONTROLLER://:9093"]),
        "KAFKA_ADVERTISED_LISTENERS": ",".join(f"{one.name}://{one.host}:{one.port}" for one in listeners),
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": ",".join(
            [*(f"{one.name}:{one.protocol}" for one in listeners), "CONTROLLER:PLAINTEXT"]
        ),
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
        "KAFKA_HEAP_OPTS": "-Xmx400m",
    }
    for one in listeners:
        prefix = f"KAFKA_LISTENER_NAME_{one.name}"
        if one.certificate is not None:
            settings[f"{prefix}_SSL_KEYSTORE_TYPE"] = "PEM"
            settings[f"{prefix}_SSL_KEYSTORE_LOCATION"] = f"/secrets/{one.name}.pem"
        if one.needs_client:
            settings[f"{prefix}_SSL_CLIENT_AUTH"] = "required"
            settings[f"{prefix}_SSL_TRUSTSTORE_TYPE"] = "PEM"
            settings[f"{prefix}_SSL_TRUSTSTORE_LOCATION"] = "/secrets/root.pem"
        if one.mechanisms:
            settings[f"{prefix}_SASL_ENABLED_MECHANISMS"] = ",".join(one.mechanisms)
        for mechanism in one.mechanisms:
            users = f' user_{USER}="{PASSWORD}"' if mechanism == "PLAIN" else ""
            name = mechanism.replace("-", "___")
            settings[f"{prefix}_{name}_SASL_JAAS_CONFIG"] = f"{_MODULES[mechanism]} required{users};"
    lines = "\n".join(f"      {name}: '{value}'" for name, value in settings.items())
    return f"""name: secured-world
services:
  kafka:
    image: apache/kafka:3.9.1
    command: {json.dumps(["bash", "-c", FORMATTING])}
    networks:
      front:
        ipv4_address: {IP}
        aliases: [{NAME}, {DEEPER}, {UNDERSCORE}]
    volumes: ["./secrets:/secrets:ro"]
    environment:
{lines}
networks:
  front:
    ipam:
      config: [{{subnet: 10.96.4.0/24}}]
"""


_API_VERSIONS = "kafka.admin.BrokerApiVersionsCommand"
_CONFIGS = "kafka.admin.ConfigCommand"
_NAMED = CertificateFault.NAME
# What openssl calls what netdiag calls it (X509_V_ERR_..., openssl/x509_vfy.h).
_CODES = {
    9: {CertificateFault.NOT_YET_VALID},
    10: {CertificateFault.EXPIRED},
    18: {CertificateFault.SELF_SIGNED},
    19: {CertificateFault.UNKNOWN_AUTHORITY},
    20: {CertificateFault.UNKNOWN_AUTHORITY, CertificateFault.INCOMPLETE_CHAIN},
    21: {CertificateFault.UNKNOWN_AUTHORITY, CertificateFault.INCOMPLETE_CHAIN},
    62: {_NAMED},
    64: {_NAMED},
    66: {CertificateFault.WEAK_KEY},
}
# What openssl refuses and Java takes, which is whom netdiag follows: "*" before a single label.
STRICTER = {"STAR": 62}

PLAINTEXT = Client(protocol="PLAINTEXT")
SSL = Client(protocol="SSL")
PLAIN, SCRAM_256, SCRAM_512 = (
    Client(protocol="SASL_PLAINTEXT", mechanism=name) for name in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
)
SAFE_PLAIN, SAFE_SCRAM = (Client(protocol="SASL_SSL", mechanism=name) for name in ("PLAIN", "SCRAM-SHA-512"))


def _wrong(client: Client) -> Client:
    return Client(protocol=client.protocol, mechanism=client.mechanism, password=WRONG)


# the listener and who comes to it
CERTIFICATES = [
    *((name, SSL) for name in ("GOOD", "CHAINED", "GAPPED", "ELSEWHERE", "EXPIRED", "EARLY", "STRANGE", "ALONE")),
    *((name, SSL) for name in ("WEAK", "STAR", "DEEPSTAR", "HOSTSTAR", "ADDRESS", "ADDRESSOTHER", "ADDRESSNAMED")),
    *((name, SSL) for name in ("COMMON", "COMMONOTHER", "COMMONBESIDE")),
    ("GOOD", Client(protocol="SSL", trusts="other")),
    ("STRANGE", Client(protocol="SSL", trusts="other")),
    ("ALONE", Client(protocol="SSL", trusts="own")),
    ("STALE", Client(protocol="SSL", trusts="stale")),
    ("ELSEWHERE", Client(protocol="SSL", checks_names=False)),
    ("EXPIRED", Client(protocol="SSL", checks_names=False)),
]
PROTOCOLS = [
    *(
        (listener, client)
        for listener in ("OPEN", "GOOD", "LOGIN", "SAFE")
        for client in (PLAINTEXT, SSL, PLAIN, SAFE_PLAIN)
    ),
]
LOGINS = [
    *(("LOGIN", client) for client in (SCRAM_256, SCRAM_512, _wrong(PLAIN), _wrong(SCRAM_256), _wrong(SCRAM_512))),
    *(("SAFE", client) for client in (SAFE_SCRAM, _wrong(SAFE_PLAIN), _wrong(SAFE_SCRAM))),
    ("SAFE", Client(protocol="SASL_SSL", mechanism="PLAIN", trusts="other")),
    ("ONLYSCRAM", PLAIN),
    ("ONLYSCRAM", SCRAM_512),
    ("MUTUAL", SSL),
    ("MUTUAL", Client(protocol="SSL", has_certificate=True)),
]
# Of SCRAM: one that nobody creates, and two that are created for a single mechanism, before the first start and after.
USERS = [
    (listener, Client(protocol=protocol, mechanism=mechanism, user=user))
    for listener, protocol in (("LOGIN", "SASL_PLAINTEXT"), ("SAFE", "SASL_SSL"))
    for user in (NOBODY, OTHER_USER, FORMATTED)
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
]
# What openssl and other clients may see in another way.
ODD = [("CROSSED", SSL), ("UNDERSCORE", SSL)]
# Without a client that waits for an answer which does not come.
QUICK = {("GOOD", SSL), ("ELSEWHERE", SSL), ("EXPIRED", SSL)}
QUICK |= {("SAFE", SAFE_SCRAM), ("LOGIN", _wrong(PLAIN)), ("MUTUAL", SSL), ("ONLYSCRAM", PLAIN), USERS[1]}


@dataclass(slots=True, kw_only=True)
class Running:
    """The broker, and whoever asks it. `answers` are those of Java, which takes seconds for each."""

    lab: Lab
    stack: Stack
    world: World
    place: Vantage
    vantage: LiveVantage
    java: JavaTools
    answers: dict[tuple[str, Client], tuple[str, str]] = field(default_factory=dict)

    def netdiag(self, listener: Listener, client: Client | None) -> Observed:
        """What netdiag gets, from the client container."""
        found = None
        if client is not None:
            path = self.world.folder / f"{uuid.uuid4().hex}.properties"
            path.write_text(self.world.properties(client), encoding="utf-8")
            found = read_client(str(path))
        address = Address(host=listener.host, port=listener.port)
        return observe([self.vantage], [address], timeout=20, client=found)

    def java_says(self, listener: Listener, client: Client) -> tuple[str, str]:
        """What Java's client gets (ok, tls, sasl, or fails), and what it prints."""
        key = (listener.name, client)
        if key not in self.answers:
            self.answers[key] = self._ask_java(listener, client)
        return self.answers[key]

    def _ask_java(self, listener: Listener, client: Client) -> tuple[str, str]:
        file = Path("/var/tmp") / f"netdiag-{uuid.uuid4().hex}.properties"
        outside = Path(f"{self.lab.client_root}{file}")
        outside.write_text(self.world.properties(client), encoding="utf-8")
        try:
            words = ["--bootstrap-server", f"{listener.host}:{listener.port}", "--command-config", str(file)]
            printed = self.java.call(self.place.place, _API_VERSIONS, words, 60)
        finally:
            outside.unlink()
        return _word_of_java(printed.text), printed.text

    def openssl_says(self, listener: Listener, client: Client) -> tuple[int, str]:
        """The verify code of `openssl s_client`, and what it prints."""
        authority = self.world.folder / f"{client.trusts}.pem"
        authority.write_bytes(self.world.authorities[client.trusts].pem)
        words = [tool("openssl"), "s_client", "-connect", f"{IP}:{listener.port}", "-CAfile", str(authority)]
        words += ["-partial_chain"] if client.trusts in ("own", "stale") else []
        words += (
            ["-verify_ip", IP]
            if listener.host == IP
            else ["-servername", listener.host, "-verify_hostname", listener.host]
        )
        done = run(self.place.place.argv(words), check=False, timeout=60)
        printed = done.stdout + done.stderr
        found = re.findall(r"Verify return code: (\d+)", printed)
        assert found, printed[-3000:]
        return int(found[0]), printed


def _word_of_java(text: str) -> str:
    if re.search(r"\(id: 1 rack:", text):
        return "ok"
    if re.search(r"SslAuthenticationException|SSLHandshakeException|SSL handshake failed", text):
        return "tls"
    if re.search(r"SaslAuthenticationException|UnsupportedSaslMechanism|IllegalSaslState", text):
        return "sasl"
    return "fails"


@pytest.fixture(scope="module")
def running(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The broker, up, with a SCRAM user."""
    world = make(tmp_path_factory.mktemp("secured"))
    with lab.up(world.folder / "compose.yml") as stack:
        place = same_network(stack)
        live = read_live(host=stack.engine.docker_host)
        vantage = next(
            one
            for one in live.vantages
            if isinstance(one.entrance, ProcessNamespace) and one.entrance.container_id == place.container_id
        )
        java = JavaTools(lab.client_root, lab.engine.record.run_id)
        try:
            for words in CREATING:
                done = java.call(place.place, _CONFIGS, words, 60)
                assert "Completed updating" in done.text, done.text
            yield Running(lab=lab, stack=stack, world=world, place=place, vantage=vantage, java=java)
        finally:
            java.close()
            shutil.rmtree(world.folder / "secrets")


def _id(value: object) -> str:
    if isinstance(value, Client):
        parts = [value.protocol, value.mechanism, "" if value.user == USER else value.user]
        parts += ["" if value.password == PASSWORD else "wrong", value.trusts]
        parts += ["certificate" if value.has_certificate else "", "" if value.checks_names else "lenient"]
        return "-".join(part for part in parts if part and part != "root")
    return str(value)


COMBINATIONS = [
    pytest.param(name, client, marks=pytest.mark.bar("tls-sasl", long=(name, client) not in QUICK))
    for name, client in [*CERTIFICATES, *PROTOCOLS, *LOGINS]
]


@pytest.mark.parametrize(("name", "client"), COMBINATIONS, ids=_id)
def test_netdiags_client_gets_what_javas_gets(running: Running, figure: Report, name: str, client: Client) -> None:
    listener = running.world.listeners[name]
    observed = running.netdiag(listener, client)
    (cell,) = observed.cells
    assert cell.observed is not None
    word, because = str(cell.observed), cell.observed.bootstrap.because
    java, printed = running.java_says(listener, client)
    assert (word == "ok") == (java == "ok"), f"{word}: {because}; Java: {printed[-3000:]}"
    if java in ("tls", "sasl"):
        assert word == java, f"{because}; Java: {printed[-3000:]}"
    else:
        # Without words of its own Java waits for an answer that does not come.
        assert word in ("ok", "tls", "sasl"), because
    assert PASSWORD not in repr(observed)
    assert WRONG not in repr(observed)
    figure(f"{name} x {_id(client)}", f"netdiag {word}, Java {java}")


@pytest.mark.bar("tls-sasl", long=True)
@pytest.mark.parametrize(("name", "client"), CERTIFICATES, ids=_id)
def test_a_certificates_faults_are_what_openssl_says(
    running: Running, figure: Report, name: str, client: Client
) -> None:
    listener = running.world.listeners[name]
    sight = _sight(running.netdiag(listener, client))
    assert sight.tls is not None
    faults = {fault for fault, _ in sight.tls.faults if fault is not CertificateFault.EXPIRES_SOON}
    code, printed = running.openssl_says(listener, client)
    if name in STRICTER:
        assert (code, faults) == (STRICTER[name], set())
    elif code:
        assert faults & _CODES[code], f"{faults}, openssl: {code}\n{printed[-3000:]}"
    else:
        assert not faults, f"{faults}, openssl: {printed[-3000:]}"
    assert sight.spoken.value == listener.protocol
    figure(f"{name} x {_id(client)}", f"{', '.join(sorted(faults)) or 'no fault'}; openssl {code}")


@pytest.mark.bar("tls-sasl", long=True)
def test_what_every_listener_speaks_is_told_to_a_client_that_brings_nothing(running: Running, figure: Report) -> None:
    told = {}
    for listener in running.world.listeners.values():
        # A handshake with these does not come to its end.
        if listener.protocol != "PLAINTEXT" and listener.name not in dict(ODD):
            sight = _sight(running.netdiag(listener, None))
            told[listener.name] = sight.spoken.value
            if listener.mechanisms:
                assert sight.sasl is not None
                assert set(sight.sasl.mechanisms) == set(listener.mechanisms)
            assert (sight.tls is not None and sight.tls.needs_client) is listener.needs_client
    assert told == {one.name: one.protocol for one in running.world.listeners.values() if one.name in told}
    figure("listeners told right", len(told))


@pytest.mark.bar("tls-sasl", long=True)
def test_a_brokers_tls_listener_is_no_rest_service(running: Running, figure: Report) -> None:
    port = running.world.listeners["GOOD"].port
    url = f"https://{IP}:{port}"
    console = f"services: {{console: {{image: example/console, environment: {{SCHEMA_REGISTRY_URL: '{url}'}}}}}}"
    there = replace(running.vantage, vantage=replace(running.vantage.vantage, member="console"))
    _, (seen,) = read_neighbours(deployment_of(console), [there], timeout=20)
    assert isinstance(seen.contact, Failed)
    assert seen.contact.reason is Reason.CLOSED
    done = run(running.place.place.argv([tool("curl"), "-sk", "-m", "20", url]), check=False, timeout=60)
    # 52: nothing came; 56: the connection was reset
    assert done.returncode in (52, 56)
    figure("an https URL at a broker's listener", f"netdiag closed, curl exits with {done.returncode}")


_CLIENT = """\
  client:
    image: apache/kafka:3.9.1
    networks: [front]
    command: kafka-broker-api-versions.sh --bootstrap-server {address} --command-config /client.properties
    volumes: ["./{file}:/client.properties:ro"]
  users:
    image: apache/kafka:3.9.1
    networks: [front]
    command: ["bash", "-c", "{creating}"]
"""


def foretold(world: World, listener: Listener, client: Client) -> tuple[str, list[dict[str, Any]]]:
    """What the files say a client will get (ok, tls or sasl), and why: the findings about it or its listener."""
    file = f"{uuid.uuid4().hex}.properties"
    (world.folder / file).write_text(world.properties(client), encoding="utf-8")
    compose = world.folder / "foretold.yml"
    creating = " && ".join(f"kafka-configs.sh {' '.join(words)}" for words in CREATING)
    service = _CLIENT.format(address=f"{listener.host}:{listener.port}", file=file, creating=creating)
    compose.write_text(_compose(world).replace("services:\n", f"services:\n{service}"), encoding="utf-8")
    command = [sys.executable, "-m", "netdiag", "check-listeners", str(compose), "--format", "json", "--exit-zero"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    for secret in (PASSWORD, WRONG, "PRIVATE KEY"):
        assert secret not in done.stdout
    found = [
        one
        for one in json.loads(done.stdout)["findings"]
        if (one["severity"] == "error" or one["rule"] == "sasl-scram-user-missing")
        and (one["service"] == "client" or one["listener"] == listener.name)
    ]
    if not found:
        return "ok", found
    if listener.protocol.endswith("SSL") is not client.protocol.endswith("SSL"):
        return "tls", found
    login = any("sasl" in one["rule"] or one["rule"] == "client-protocol-mismatch" for one in found)
    return "sasl" if login else "tls", found


@pytest.mark.parametrize(
    ("name", "client"),
    [
        pytest.param(name, client, marks=pytest.mark.bar("tls-before-up", long=(name, client) not in QUICK))
        for name, client in [*CERTIFICATES, *PROTOCOLS, *LOGINS, *ODD, *USERS]
    ],
    ids=_id,
)
def test_the_files_foretell_what_javas_client_gets(running: Running, figure: Report, name: str, client: Client) -> None:
    listener = running.world.listeners[name]
    word, findings = foretold(running.world, listener, client)
    java, printed = running.java_says(listener, client)
    assert (word == "ok") == (java == "ok"), f"{word}: {findings}; Java: {printed[-3000:]}"
    if java in ("tls", "sasl"):
        assert word == java, f"{findings}; Java: {printed[-3000:]}"
    quoted = [text for one in findings for text in re.findall(r'Java client [^"]*"([^"]+)"', one["why"])]
    for text in quoted:
        assert text in printed, printed[-3000:]
    figure(f"{name} x {_id(client)}", f"foretold {word}, Java {java}" + (f": {quoted[0]}" if quoted else ""))


@pytest.mark.bar("tls-before-up", long=True)
def test_a_java_server_refuses_to_be_asked_for_a_name_with_an_underscore(running: Running, figure: Report) -> None:
    port = running.world.listeners["UNDERSCORE"].port
    words = [tool("openssl"), "s_client", "-connect", f"{IP}:{port}", "-servername", UNDERSCORE]
    done = run(running.place.place.argv(words), check=False, timeout=60)
    printed = done.stdout + done.stderr
    assert "alert illegal parameter" in printed, printed[-3000:]
    figure("openssl asks for kafka_lab", "alert illegal parameter")


def _sight(observed: Observed) -> ListenerSecurity:
    (port,) = observed.security
    return port.sight
