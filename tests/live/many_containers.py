"""Many small containers on many networks: stub brokers that speak the protocol, and clients that only stay.

A stub runs in its container, as the command of the lab's broker image, from a file laid over the image's own; so it
stops and freezes with its container. What it answers is written beside it by those who know the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.io.network.hostile import ScriptedBroker
from tests.lab.image_set import CLIENT, CP_KAFKA

STUB = """#!/usr/bin/python3 -IS
import json, os, socket, struct, threading

with open("/srv/" + os.environ["STUB"] + ".json") as file:
    ANSWERS = json.load(file)

def exactly(channel, count):
    data = b""
    while len(data) < count:
        piece = channel.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data

def talk(channel, answers):
    try:
        with channel:
            while True:
                size, = struct.unpack(">i", exactly(channel, 4))
                key, version, number = struct.unpack_from(">hhi", exactly(channel, size))
                body = bytes.fromhex(answers.get("%d.%d" % (key, version)) or answers["18.3"])
                channel.sendall(struct.pack(">ii", len(body) + 4, number) + body)
    except (OSError, EOFError, struct.error):
        pass

def serve(port, answers):
    listener = socket.create_server(("0.0.0.0", int(port)), backlog=512)
    while True:
        channel, _ = listener.accept()
        threading.Thread(target=talk, args=(channel, answers), daemon=True).start()

for port, answers in ANSWERS.items():
    threading.Thread(target=serve, args=(port, answers)).start()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyContainers:
    """So many brokers, a network for each, and clients spread over these networks."""

    brokers: int
    clients: int
    # Networks that each broker and every third client is on.
    homes: int = 2
    first_port: int = 20001

    def write(self, folder: Path) -> Path:
        """The compose file, with the stub and its answers beside it."""
        # The broker in the image is not root.
        folder.chmod(0o755)
        (folder / "run").write_text(STUB, encoding="utf-8")
        (folder / "run").chmod(0o755)
        numbers = range(1, self.brokers + 1)
        inside = [(n, f"broker-{n}", 29092) for n in numbers]
        outside = [(n, "localhost", self._port(n)) for n in numbers]
        for n in numbers:
            talks = {29092: _answers(n, inside), self._port(n): _answers(n, outside)}
            (folder / f"broker-{n}.json").write_text(json.dumps(talks), encoding="utf-8")
        path = folder / "compose.yml"
        path.write_text(json.dumps(self._document(folder)), encoding="utf-8")
        return path

    def _port(self, number: int) -> int:
        return self.first_port + number - 1

    def _document(self, folder: Path) -> dict[str, Any]:
        services: dict[str, Any] = {f"broker-{n}": self._broker(n, folder) for n in range(1, self.brokers + 1)}
        for n in range(1, self.clients + 1):
            services[f"client-{n}"] = {
                "image": CLIENT,
                "stop_grace_period": "0s",
                "networks": self._networks(n, self.homes if n % 3 == 0 else 1),
            }
        networks: dict[str, Any] = {f"net-{n}": {} for n in range(1, self.brokers + 1)}
        return {"services": services, "networks": networks}

    def _broker(self, n: int, folder: Path) -> Mapping[str, Any]:
        port = self._port(n)
        return {
            "image": CP_KAFKA,
            "hostname": f"broker-{n}",
            "stop_grace_period": "0s",
            "networks": self._networks(n, self.homes),
            "ports": [f"{port}:{port}"],
            "volumes": [f"{folder}/run:/etc/confluent/docker/run:ro", f"{folder}:/srv:ro"],
            "environment": {
                "STUB": f"broker-{n}",
                "KAFKA_BROKER_ID": str(n),
                "KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181",
                "KAFKA_LISTENERS": f"INTERNAL://0.0.0.0:29092,EXTERNAL://0.0.0.0:{port}",
                "KAFKA_ADVERTISED_LISTENERS": f"INTERNAL://broker-{n}:29092,EXTERNAL://localhost:{port}",
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
                "KAFKA_INTER_BROKER_LISTENER_NAME": "INTERNAL",
            },
        }

    def _networks(self, number: int, count: int) -> list[str]:
        return [f"net-{(number - 1 + step) % self.brokers + 1}" for step in range(min(count, self.brokers))]


def _answers(node_id: int, brokers: list[tuple[int, str, int]]) -> dict[str, str]:
    """What to answer, by key and version, without size and correlation id."""
    broker = ScriptedBroker(node_id=node_id, brokers=brokers)
    asked = [(18, 0), (18, 3), (3, 1), (32, 1)]
    return {f"{key}.{version}": broker.answer(key, version, 0)[8:].hex() for key, version in asked}
