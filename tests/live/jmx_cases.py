"""Eight ways to get JMX through Docker wrong, each beside its repair, and the rule that says so."""

from dataclasses import dataclass

from tests.lab.engine import HOST_ADDRESS
from tests.lab.image_set import APACHE_3, APACHE_4, CP_KAFKA

_SOUND = "-Dcom.sun.management.jmxremote.authenticate=false -Dcom.sun.management.jmxremote.ssl=false"
_OPTIONS = f"{_SOUND} -Dcom.sun.management.jmxremote.port=9101"
_RMI = "-Dcom.sun.management.jmxremote.rmi.port"
_NAME = "-Djava.rmi.server.hostname"
_TEMPLATE = """\
services:
  kafka:
    image: {image}
    networks: [kafka]
    ports: [{ports}]
    environment:
      CLUSTER_ID: 5L6g3nShT-eMCtK--X86sw
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:19093
      KAFKA_LISTENERS: INTERNAL://:29092,EXTERNAL://:9092,CONTROLLER://:19093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,EXTERNAL://localhost:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: 1
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_HEAP_OPTS: -Xmx350m -Xms350m
{jmx}
networks:
  kafka:
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxSide:
    """One stack: its JMX variables and published ports, the addresses to ask for, and what netdiag finds."""

    jmx: tuple[tuple[str, str], ...]
    ports: tuple[str, ...]
    registries: tuple[str, ...]
    rules: tuple[str, ...] = ()

    def text(self, image: str) -> str:
        """The compose file."""
        ports = ", ".join(f'"{port}"' for port in ("9092:9092", *self.ports))
        jmx = "".join(f"      {name}: {value}\n" for name, value in self.jmx)
        return _TEMPLATE.format(image=image, ports=ports, jmx=jmx)


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxCase:
    """One arrangement; `seen` is what Java's client prints at `where` (vantage, registry) of the broken one.

    The vantage is usable there with the repaired one.
    """

    name: str
    image: str
    broken: JmxSide
    repaired: JmxSide
    where: tuple[str, str]
    seen: str
    is_quick: bool = False


def side(*rules: str, ports: str = "9101:9101", registry: int = 9101, **jmx: str) -> JmxSide:
    """A stack in few words; `registry` is the port under which the docker host offers JMX."""
    addresses = ("kafka:9101", f"localhost:{registry}", f"{HOST_ADDRESS}:{registry}")
    return JmxSide(jmx=tuple(jmx.items()), ports=tuple(ports.split()), registries=addresses, rules=rules)


_LOCALHOST = ("H", "localhost:9101")
_LAN = ("L", f"{HOST_ADDRESS}:9101")
_REFUSED = "Connection refused to host: localhost; nested exception is: java.net.ConnectException"

JMX_CASES = (
    JmxCase(
        name="random-port",
        image=CP_KAFKA,
        broken=side("jmx-rmi-port-random", KAFKA_JMX_OPTS=f"{_OPTIONS} {_NAME}=localhost"),
        repaired=side(KAFKA_JMX_OPTS=f"{_OPTIONS} {_NAME}=localhost {_RMI}=9101"),
        where=_LOCALHOST,
        seen=_REFUSED,
        is_quick=True,
    ),
    JmxCase(
        name="other-port-not-published",
        image=APACHE_3,
        broken=side("jmx-rmi-port-not-published", KAFKA_JMX_OPTS=f"{_OPTIONS} {_NAME}=localhost {_RMI}=9102"),
        repaired=side(KAFKA_JMX_OPTS=f"{_OPTIONS} {_NAME}=localhost {_RMI}=9102", ports="9101:9101 9102:9102"),
        where=_LOCALHOST,
        seen=_REFUSED,
    ),
    JmxCase(
        name="other-number",
        image=APACHE_4,
        broken=side(
            "jmx-rmi-port-not-published",
            ports="19101:9101",
            registry=19101,
            KAFKA_JMX_PORT="9101",
            KAFKA_JMX_HOSTNAME="localhost",
        ),
        repaired=side(KAFKA_JMX_PORT="9101", KAFKA_JMX_HOSTNAME="localhost"),
        where=("H", "localhost:19101"),
        seen=_REFUSED,
    ),
    JmxCase(
        name="container-name",
        image=CP_KAFKA,
        broken=side("jmx-hostname-unreachable", KAFKA_JMX_PORT="9101", KAFKA_JMX_HOSTNAME="kafka"),
        repaired=side(KAFKA_JMX_PORT="9101", KAFKA_JMX_HOSTNAME="localhost"),
        where=_LOCALHOST,
        seen="Unknown host: kafka; nested exception is: java.net.UnknownHostException",
    ),
    JmxCase(
        name="container-address",
        image=APACHE_3,
        broken=side("jmx-hostname-unreachable", KAFKA_JMX_PORT="9101"),
        repaired=side(KAFKA_JMX_PORT="9101", KAFKA_JMX_HOSTNAME=HOST_ADDRESS),
        where=_LAN,
        seen="nested exception is: java.net",
    ),
    JmxCase(
        name="container-address-random-port",
        image=CP_KAFKA,
        broken=side("jmx-hostname-unreachable", "jmx-rmi-port-random", KAFKA_OPTS=_OPTIONS),
        repaired=side(KAFKA_JMX_OPTS=f"{_SOUND} {_NAME}={HOST_ADDRESS}", JMX_PORT="9101"),
        where=_LAN,
        seen="nested exception is: java.net",
    ),
    JmxCase(
        name="host-address-random-port",
        image=APACHE_4,
        broken=side("jmx-rmi-port-random", KAFKA_JMX_OPTS=f"{_OPTIONS} {_NAME}={HOST_ADDRESS}"),
        repaired=side(KAFKA_JMX_OPTS=f"{_OPTIONS} {_NAME}={HOST_ADDRESS} {_RMI}=9101"),
        where=_LAN,
        seen=f"Connection refused to host: {HOST_ADDRESS}; nested exception is: java.net.ConnectException",
    ),
    JmxCase(
        name="localhost-for-containers",
        image=APACHE_3,
        # Nothing is published, so no rule takes it for JMX of the docker host.
        broken=side(ports="", KAFKA_JMX_PORT="9101", KAFKA_JMX_HOSTNAME="localhost"),
        repaired=side(ports="", KAFKA_JMX_PORT="9101", KAFKA_JMX_HOSTNAME="kafka"),
        where=("C", "kafka:9101"),
        seen=_REFUSED,
    ),
)
