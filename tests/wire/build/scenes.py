"""What a scene has: addresses of its own, so that all scenes go into one capture without touching each other."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.wire.build.kafka_connection import Client, KafkaConnection, batch
from tests.wire.build.packets import Network

Play = Callable[["Scene"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A stage for one conversation: client and broker live in 10.N.0.0/24; `good` is the repaired twin."""

    network: Network
    number: int
    name: str
    good: bool

    def address(self, last: int) -> str:
        """An address of this scene."""
        return f"10.{self.number}.0.{last}"

    @property
    def broker(self) -> str:
        """Where the first broker is reached."""
        return f"{self.address(2)}:9092"

    @property
    def itself(self) -> dict[int, tuple[str, int]]:
        """The first broker, advertised where it is reached."""
        return {1: (self.address(2), 9092)}

    def client(self, last: int = 9, suffix: str = "") -> Client:
        """An application, whose client.id is the name of the scene."""
        return Client(self.network, self.address(last), self.name + suffix)

    def dial(self, at: float, last: int = 9, suffix: str = "") -> KafkaConnection:
        """A connection of the client to the broker where it is reached."""
        return self.client(last, suffix).dial(at, self.broker)

    def work(self, at: float, broker: str, count: int = 5) -> None:
        """The client connects and produces."""
        talk = self.client().dial(at, broker)
        for number in range(count):
            talk.produce(at + 0.1 + number, batch())


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A rule with the scene that it is found in; `culprit` is the client.id or address that the finding names."""

    rule: str
    play: Play
    culprit: str = ""

    @property
    def name(self) -> str:
        """The client.id of the scene."""
        return self.rule.removeprefix("wire-")


def capture(cases: tuple[Case, ...], *, good: bool) -> bytes:
    """All scenes in one capture."""
    network = Network()
    for number, case in enumerate(cases, 1):
        case.play(Scene(network=network, number=number, name=case.name, good=good))
    return network.pcap()
