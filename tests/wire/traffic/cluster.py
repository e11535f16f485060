"""The cluster of a capture: two brokers of one release with every kind of listener, and places for clients.

tcpdump runs in a namespace of the lab for the length of a block: the file, and what the kernel dropped.
"""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.debian import find
from tests.lab.errors import LabError
from tests.lab.lab import Lab
from tests.lab.namespaces import Place
from tests.lab.run_record import MARK
from tests.lab.stack import Stack
from tests.live.certificates import write_secrets
from tests.wire.traffic.clients import Clients, clients
from tests.wire.traffic.software import environment

_LIMIT = 15.0


@dataclass(slots=True, kw_only=True)
class Sniffed:
    """One capture file; `dropped` is known when the block has ended."""

    file: Path
    dropped: int = -1


@contextmanager
def sniff(
    place: Place, interface: str, file: Path, *, filter_words: str = "", environment: dict[str, str]
) -> Iterator[Sniffed]:
    """Capture from `interface` as seen from `place`, whole packets, until the block ends."""
    binary = find("tcpdump")
    if binary is None:
        raise LabError("no tcpdump")
    options = ["-i", interface, "-s", "0", "-B", "32768", "-U", "-w", str(file), "-Z", "root", "-n"]
    words = place.argv([binary, *options, *filter_words.split()])
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)
    sniffed = Sniffed(file=file)
    try:
        _wait_for_start(process)
        yield sniffed
        # What just passed must get through the kernel's buffer.
        time.sleep(0.5)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()
    found = re.search(r"(\d+) packets? dropped by kernel", said)
    if found is None:
        raise LabError(f"tcpdump does not tell what it dropped: {said}")
    sniffed.dropped = int(found[1])


def _wait_for_start(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if "listening on" in line:
            return
    raise LabError(f"tcpdump did not start: {said}")


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
