"""The cluster of a capture: two brokers of one release with every kind of listener, and places for clients."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.namespaces import Place
from tests.lab.run_record import MARK
from tests.lab.stack import Stack
from tests.live.certificates import write_secrets
from tests.wire.traffic.clients import Clients, clients
from tests.wire.traffic.sniffing import Sniffed, sniff
from tests.wire.traffic.software import environment

INTERNAL = "broker-1:29092"
AUTH = "broker-1:29095"
SECURE = "broker-1:29096"
EXTERNAL = "localhost:9091"
LAN = "192.168.8.133:9191"
# Where brokers listen with Kafka in the clear.
PLAIN_PORTS = (9091, 9092, 9093, 9191, 9192, 29092, 29095)
TLS_PORT = 29096
_FILE = Path(__file__).parent / "cluster.yml"
_FILTER = " or ".join(f"tcp port {port}" for port in (*PLAIN_PORTS, TLS_PORT)) + " or icmp or udp port 53"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A running cluster; `version` is its Kafka release."""

    lab: Lab
    stack: Stack
    version: str
    clients: Clients
    environment: dict[str, str]

    @property
    def cache(self) -> Path:
        """The lab's cache."""
        return self.lab.engine.cache

    def client(self, number: int) -> Place:
        """Inside one of the three client containers."""
        return self.stack.state(f"client-{number}").place

    @property
    def host(self) -> Place:
        """The docker host."""
        return self.lab.engine.host

    @property
    def lan(self) -> Place:
        """Another machine on its LAN."""
        return self.lab.engine.lan

    def bridge(self) -> str:
        """The interface of the cluster's network on the docker host."""
        network = next(iter(self.stack.state("broker-1").networks))
        found = self.lab.engine.docker("network", "inspect", "--format", "{{.Id}}", network).strip()
        return f"br-{found[:12]}"

    @contextmanager
    def sniff(self, folder: Path, name: str) -> Iterator[dict[str, Sniffed]]:
        """Captures of one traffic: on the bridge, on all interfaces of the docker host, inside broker-1."""
        points = {
            "bridge": (self.host, self.bridge()),
            "any": (self.host, "any"),
            "broker-1": (self.stack.state("broker-1").place, "eth0"),
        }
        with ExitStack() as stack:
            yield {
                point: stack.enter_context(
                    sniff(
                        place,
                        interface,
                        folder / f"{name}-{point}.pcap",
                        filter_words=_FILTER,
                        environment=self.environment,
                    )
                )
                for point, (place, interface) in points.items()
            }


@contextmanager
def cluster(lab: Lab, image: str, folder: Path) -> Iterator[Cluster]:
    """Brokers of `image`, up for a block."""
    secrets = folder / "secrets"
    write_secrets(lab, secrets)
    marked = {**environment(lab.engine.cache), MARK: lab.engine.record.run_id}
    with (
        lab.up(_FILE, env={"KAFKA_IMAGE": image, "SECRETS": str(secrets)}) as stack,
        clients(marked) as running,
    ):
        yield Cluster(lab=lab, stack=stack, version=image.partition(":")[2], clients=running, environment=marked)
