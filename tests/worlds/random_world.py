"""A topology by seed: a compose file of stand-in brokers and a client, and the addresses to try in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from netdiag.deployment.model.verdict import Address
from tests.lab.engine import HOST_ADDRESS
from tests.lab.image_set import CLIENT, CP_KAFKA

# Beside the compose file.
STUB = "stub"
_MODES = ("networks",) * 14 + ("bridge", "bridge", "host", "none", "service", "service")
_KINDS = ("plain", "plain", "plain", "internal", "icc")
_MOST_ADDRESSES = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`document` is a compose file; `addresses` can be told before it is up; `ports` are those of each broker's
    listeners, closed and published ones beside them; `stopped` is a service that is ended once all run."""

    seed: int
    document: Mapping[str, object]
    addresses: tuple[Address, ...]
    ports: tuple[int, ...]
    stopped: str | None

    @property
    def text(self) -> str:
        """As a file: JSON is YAML."""
        return json.dumps(self.document, indent=1)


@dataclass(slots=True)
class _Service:
    name: str
    mode: str
    networks: dict[str, dict[str, object]] = field(default_factory=dict)
    shares_with: str = ""
    ports: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    statics: list[str] = field(default_factory=list)
    published: list[int] = field(default_factory=list)
    body: dict[str, object] = field(default_factory=dict)


def draw(seed: int) -> World:
    """The same world for the same seed."""
    return _Drawing(seed).world()


class _Drawing:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = Random(seed)
        self._next_port = 19000 + 10 * self._random.randrange(100)
        self._networks = self._draw_networks()
        self._services: list[_Service] = []

    def world(self) -> World:
        for number in range(1, self._random.randint(3, 5) + 1):
            self._services.append(self._broker(number))
        for broker in self._services:
            broker.body["environment"] = self._environment(broker)
        client = self._client()
        document = {
            "services": {one.name: one.body for one in (*self._services, client)},
            "networks": {name: dict(declared) for name, (_, declared) in self._networks.items()},
        }
        addresses = list(dict.fromkeys(self._addresses()))
        if len(addresses) > _MOST_ADDRESSES:
            addresses = sorted(self._random.sample(addresses, _MOST_ADDRESSES))
        ports = sorted({port for one in self._services for port in (*one.ports, *one.published)})
        return World(
            seed=self._seed,
            document=document,
            addresses=tuple(addresses),
            ports=tuple(self._random.sample(ports, min(5, len(ports)))),
            stopped=self._stopped(),
        )

    def _draw_networks(self) -> dict[str, tuple[str, dict[str, object]]]:
        found: dict[str, tuple[str, dict[str, object]]] = {}
        for number in range(self._random.randint(2, 3)):
            kind = self._random.choice(_KINDS) if number else self._random.choice(("plain", "icc"))
            declared: dict[str, object] = {}
            if kind == "internal":
                declared["internal"] = True
            if kind == "icc":
                declared["driver_opts"] = {"com.docker.network.bridge.enable_icc": "false"}
            # The order of networks goes by their names, so these do not follow the order of their numbers.
            name = f"{self._random.choice('abcxyz')}net{number}"
            if self._random.random() < 0.6:
                top = f"10.{64 + number}.{self._seed % 250}"
                declared["ipam"] = {"config": [{"subnet": f"{top}.0/24", "gateway": f"{top}.1"}]}
            found[name] = (kind, declared)
        return found

    def _broker(self, number: int) -> _Service:
        chance = self._random
        mode = chance.choice(_MODES)
        owners = [one for one in self._services if one.mode in ("networks", "bridge")]
        if mode == "service" and not owners:
            mode = "networks"
        broker = _Service(name=f"k{number}", mode=mode)
        base = 9000 + 100 * number if mode != "host" else self._free_port()
        broker.ports = [base, self._free_port() if mode == "host" else base + 1][: chance.randint(1, 2)]
        broker.body = {
            "image": CP_KAFKA,
            "volumes": [f"./{STUB}:/etc/confluent/docker/run:ro"],
            "stop_grace_period": "0s",
        }
        match mode:
            case "networks":
                self._attach(broker)
            case "service":
                broker.shares_with = chance.choice(owners).name
                broker.body["network_mode"] = f"service:{broker.shares_with}"
            case _:
                broker.body["network_mode"] = mode
        if mode in ("networks", "bridge", "none"):
            self._name(broker)
        if mode in ("networks", "bridge"):
            self._publish(broker)
        return broker

    def _attach(self, broker: _Service) -> None:
        chance = self._random
        chosen = chance.sample(sorted(self._networks), chance.choice((1, 1, 2)))
        for network in chosen:
            details: dict[str, object] = {}
            if chance.random() < 0.3:
                alias = f"alias-{broker.name}-{chance.randrange(9)}"
                details["aliases"] = [alias]
                broker.names.append(alias)
            subnet = self._subnet(network)
            if subnet and chance.random() < 0.4:
                address = f"{subnet}.{100 + len(self._services)}"
                details["ipv4_address"] = address
                broker.statics.append(address)
            broker.networks[network] = details
        broker.names.append(broker.name)
        broker.body["networks"] = {name: details or None for name, details in broker.networks.items()}

    def _subnet(self, network: str) -> str:
        ipam = self._networks[network][1].get("ipam")
        return ipam["config"][0]["subnet"].rpartition(".")[0] if isinstance(ipam, dict) else ""

    def _name(self, broker: _Service) -> None:
        chance = self._random
        if chance.random() < 0.25:
            broker.body["container_name"] = f"world-{broker.name}"
            broker.names.append(f"world-{broker.name}")
        if chance.random() < 0.25:
            broker.body["hostname"] = f"host-{broker.name}"
            broker.names.append(f"host-{broker.name}")
        if broker.mode != "none" and chance.random() < 0.3:
            broker.body["extra_hosts"] = ["host.docker.internal:host-gateway"]

    def _publish(self, broker: _Service) -> None:
        chance = self._random
        written: list[str] = []
        if len(broker.ports) == 2 and chance.random() < 0.25:
            first = self._free_port(2)
            written.append(f"{first}-{first + 1}:{broker.ports[0]}-{broker.ports[1]}")
            broker.published += [first, first + 1]
        else:
            for port in broker.ports:
                if chance.random() < 0.7:
                    published = chance.choice((self._free_port(), self._free_port(), port))
                    where = chance.choice(("", "", "", "0.0.0.0:", "127.0.0.1:", f"{HOST_ADDRESS}:"))
                    written.append(f"{where}{published}:{port}")
                    broker.published.append(published)
        if chance.random() < 0.15:
            written.append(f"{self._free_port()}:{broker.ports[0] + 50}")
            broker.published.append(self._next_port - 1)
        if written:
            broker.body["ports"] = written

    def _free_port(self, count: int = 1) -> int:
        self._next_port += count
        return self._next_port - count

    def _environment(self, broker: _Service) -> dict[str, str]:
        number = int(broker.name[1:])
        inner = 30000 + number
        listeners = {f"L{index}": self._bound(broker, port) for index, port in enumerate(broker.ports)}
        advertised = {name: self._advertised(broker, port) for name, (_, port) in listeners.items()}
        written = [*(f"{name}://{host}:{port}" for name, (host, port) in listeners.items()), f"C://localhost:{inner}"]
        return {
            "KAFKA_NODE_ID": str(number),
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "CLUSTER_ID": f"MkU3OEVBNTcwNTJENDM2Q{number}",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": f"{number}@localhost:{inner}",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "C",
            "KAFKA_INTER_BROKER_LISTENER_NAME": "L0",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": ",".join(f"{name}:PLAINTEXT" for name in (*listeners, "C")),
            "KAFKA_LISTENERS": ",".join(written),
            "KAFKA_ADVERTISED_LISTENERS": ",".join(f"{n}://{host}:{port}" for n, (host, port) in advertised.items()),
        }

    def _bound(self, broker: _Service, port: int) -> tuple[str, int]:
        everywhere = ("0.0.0.0", "0.0.0.0", "")
        match broker.mode:
            case "host":
                return self._random.choice((*everywhere, "127.0.0.1", HOST_ADDRESS)), port
            case "networks":
                own = [name for name in broker.names if name == broker.name or name.startswith("alias-")]
                return self._random.choice((*everywhere, *everywhere, "127.0.0.1", *own, *broker.statics)), port
            case _:
                return self._random.choice((*everywhere, *everywhere, "localhost")), port

    def _advertised(self, broker: _Service, port: int) -> tuple[str, int]:
        chance = self._random
        other = chance.choice(self._services)
        outside = [*broker.published, port]
        choices = [
            ("localhost", chance.choice(outside)),
            (HOST_ADDRESS, chance.choice(outside)),
            (other.name, chance.choice(other.ports)),
            ("host.docker.internal", chance.choice(outside)),
            *((name, port) for name in (*broker.names, *broker.names, *broker.statics)),
        ]
        return chance.choice(choices)

    def _client(self) -> _Service:
        client = _Service(name="client", mode="networks")
        client.body = {"image": CLIENT, "stop_grace_period": "0s"}
        if self._random.random() < 0.2:
            client.body["network_mode"] = "bridge"
        else:
            client.body["networks"] = self._random.sample(sorted(self._networks), self._random.choice((1, 1, 2)))
        if self._random.random() < 0.5:
            client.body["extra_hosts"] = ["host.docker.internal:host-gateway"]
        return client

    def _addresses(self) -> Iterator[Address]:
        for broker in self._services:
            names = dict.fromkeys((broker.name, *broker.names, *broker.statics))
            for port in broker.ports:
                for name in names:
                    yield Address(host=name, port=port)
                yield Address(host="localhost", port=port)
            yield Address(host=broker.name, port=broker.ports[0] + 50)
            for port in broker.published:
                for host in ("localhost", HOST_ADDRESS, HOST_ADDRESS, "host.docker.internal"):
                    yield Address(host=host, port=port)
            yield Address(host=HOST_ADDRESS, port=broker.ports[0])
        for name in self._networks:
            subnet = self._subnet(name)
            ports = [port for broker in self._services for port in (*broker.published, *broker.ports)]
            if subnet:
                yield Address(host=f"{subnet}.1", port=self._random.choice(ports))
                # Nobody has this one.
                yield Address(host=f"{subnet}.77", port=self._random.choice(ports))

    def _stopped(self) -> str | None:
        owners = {one.shares_with for one in self._services}
        free = [one.name for one in self._services if one.name not in owners]
        return self._random.choice(free) if free and self._random.random() < 0.35 else None
