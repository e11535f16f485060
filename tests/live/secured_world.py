"""One real broker with a listener for every kind of certificate and login, and the clients that try them.

The certificates are made anew each time. The broker is asked from a client container on its network, where its name is
kafka.lab (and b1.kafka.lab) and its address 10.96.4.10; listeners advertise one of these.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.io.network.authorities import Issued, authority, issue

NAME, DEEPER, IP = "kafka.lab", "b1.kafka.lab", "10.96.4.10"
USER, PASSWORD, WRONG = "alice", "alice-secret-7", "wrong-secret-8"
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
            module = f'{_MODULES[client.mechanism]} required username="{USER}" password="{client.password}";'
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
    }
    port = 9100
    for name, certificate in certificates.items():
        port += 1
        host = IP if name.startswith("ADDRESS") else DEEPER if name == "HOSTSTAR" else NAME
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
    networks:
      front:
        ipv4_address: {IP}
        aliases: [{NAME}, {DEEPER}]
    volumes: ["./secrets:/secrets:ro"]
    environment:
{lines}
networks:
  front:
    ipam:
      config: [{{subnet: 10.96.4.0/24}}]
"""
