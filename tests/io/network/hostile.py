"""Servers on loopback that do to a client what a Kafka broker should not."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

from netdiag.io.kernel.netns import Namespace
from netdiag.kafka.protocol import encode_response

Behaviour = Callable[[socket.socket, threading.Event], None]

CORRELATION_ID = 0x6E64_0001
# Kafka's socket.request.max.bytes; a TLS greeting begins with more than that.
_LARGEST_REQUEST = 104_857_600


@contextlib.contextmanager
def serving(
    behaviour: Behaviour, *, address: str = "127.0.0.1", port: int = 0, namespace: Namespace | None = None
) -> Iterator[int]:
    """A server that treats each connection to `behaviour`; gives its port, ends with the block."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def listen() -> socket.socket:
        return socket.create_server((address, port), backlog=512)

    listener = namespace.run(listen) if namespace else listen()

    def treat(channel: socket.socket) -> None:
        with channel, contextlib.suppress(OSError):
            behaviour(channel, over)

    def accept() -> None:
        while not over.is_set():
            try:
                channel, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=treat, args=(channel,), daemon=True))
            threads[-1].start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield listener.getsockname()[1]
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (acceptor, *threads):
            thread.join(timeout=5)


def garbage(channel: socket.socket, over: threading.Event) -> None:
    """Bytes without sense."""
    channel.recv(4096)
    channel.sendall(bytes((7 * i + 3) % 256 for i in range(5000)))


def two_gigabytes(channel: socket.socket, over: threading.Event) -> None:
    """The largest size that a frame can announce, and then a flood."""
    channel.recv(4096)
    channel.sendall(struct.pack(">i", 2**31 - 1))
    flood = bytes(1 << 20)
    while not over.is_set():
        channel.sendall(flood)


def announced_and_withheld(channel: socket.socket, over: threading.Event) -> None:
    """A size that is allowed, all of it but the last byte, then silence."""
    channel.recv(4096)
    channel.sendall(struct.pack(">iI", 1 << 20, CORRELATION_ID) + bytes((1 << 20) - 5))
    over.wait(30)


def one_byte_a_second(channel: socket.socket, over: threading.Event) -> None:
    """An answer that would take an hour."""
    channel.recv(4096)
    for byte in struct.pack(">iI", 4000, CORRELATION_ID) + bytes(4000):
        channel.sendall(bytes([byte]))
        if over.wait(1):
            return


def immediate_close(channel: socket.socket, over: threading.Event) -> None:
    """Accept and end, as docker-proxy does for a dead port."""


def reset(channel: socket.socket, over: threading.Event) -> None:
    """Accept and reset."""
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def silence(channel: socket.socket, over: threading.Event) -> None:
    """Accept and say nothing, as a frozen process does."""
    over.wait(30)


def tls_alert(channel: socket.socket, over: threading.Event) -> None:
    """What a TLS listener says to plaintext: fatal alert, unexpected message."""
    channel.recv(4096)
    channel.sendall(b"\x15\x03\x03\x00\x02\x02\x0a")


def tls_that_closes(channel: socket.socket, over: threading.Event) -> None:
    """A TLS listener that ends the connection of whoever does not greet in TLS."""
    if channel.recv(4096)[:1] == b"\x16":
        channel.sendall(b"\x16\x03\x03\x00\x02\x02\x00")


def http(channel: socket.socket, over: threading.Event) -> None:
    """A web server."""
    channel.recv(4096)
    channel.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def slow_close(channel: socket.socket, over: threading.Event) -> None:
    """Accept, wait, end."""
    over.wait(2)


class ScriptedBroker:
    """A broker that answers as it is told: who it is and whom it advertises."""

    def __init__(self, *, node_id: int, brokers: list[tuple[int, str, int]]) -> None:
        self.node_id = node_id
        self.brokers = brokers
        self.connections = 0

    def __call__(self, channel: socket.socket, over: threading.Event) -> None:
        self.connections += 1
        while True:
            head = _exactly(channel, 4)
            if head is None or struct.unpack(">i", head)[0] > _LARGEST_REQUEST:
                return
            request = _exactly(channel, struct.unpack(">i", head)[0]) or b""
            api_key, api_version, correlation_id = struct.unpack_from(">hhi", request)
            channel.sendall(self.answer(api_key, api_version, correlation_id))

    def answer(self, api_key: int, api_version: int, correlation_id: int) -> bytes:
        """The framed answer to one request."""
        if api_key == 18 and api_version > 0:
            return encode_response(18, 0, correlation_id, {"error_code": 35, "api_keys": []})
        if api_key == 18:
            keys = [{"api_key": key, "min_version": 0, "max_version": 1} for key in (3, 18, 32)]
            return encode_response(18, 0, correlation_id, {"error_code": 0, "api_keys": keys})
        if api_key == 3:
            named = [{"node_id": n, "host": host, "port": port, "rack": None} for n, host, port in self.brokers]
            body = {"brokers": named, "controller_id": self.node_id, "topics": []}
            return encode_response(3, api_version, correlation_id, body)
        setting = {
            "name": "node.id",
            "value": str(self.node_id),
            "read_only": True,
            "config_source": 4,
            "is_sensitive": False,
            "synonyms": [],
        }
        result = {
            "error_code": 0,
            "error_message": None,
            "resource_type": 4,
            "resource_name": str(self.node_id),
            "configs": [setting],
        }
        return encode_response(32, api_version, correlation_id, {"throttle_time_ms": 0, "results": [result]})


def _exactly(channel: socket.socket, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        piece = channel.recv(count - len(data))
        if not piece:
            return None
        data += piece
    return data


def endless_frames(channel: socket.socket, over: threading.Event) -> None:
    """Answers without end to questions that nobody asked, each well formed."""
    channel.recv(4096)
    number = 0
    while not over.is_set():
        number += 1
        channel.sendall(encode_response(18, 0, number, {"error_code": 0, "api_keys": []}) * 64)


def wrong_correlation_id(channel: socket.socket, over: threading.Event) -> None:
    """One answer, to another question."""
    channel.recv(4096)
    channel.sendall(encode_response(18, 0, 7, {"error_code": 0, "api_keys": []}))
    over.wait(30)


def negative_size(channel: socket.socket, over: threading.Event) -> None:
    """A frame of less than nothing, and one of nothing."""
    channel.recv(4096)
    channel.sendall(struct.pack(">ii", -1, 0))


def escapes(channel: socket.socket, over: threading.Event) -> None:
    """What would clear a terminal and give it a new title, in the place of an answer."""
    channel.recv(4096)
    channel.sendall(b"\x1b[2J\x1b]0;owned\x07HTTP/1.1 \x1b[31m\r\n" * 10)


def endless_line(channel: socket.socket, over: threading.Event) -> None:
    """A web server whose status line never ends."""
    channel.recv(4096)
    channel.sendall(b"HTTP/1.1 ")
    while not over.is_set():
        channel.sendall(b"A" * 65536)


class Lying(ScriptedBroker):
    """Whatever was asked for, this many keys, brokers and settings are announced, and few follow."""

    def answer(self, api_key: int, api_version: int, correlation_id: int) -> bytes:
        """An answer whose counts are as large as they can be."""
        return struct.pack(">iihi", 14, correlation_id, 0, 2**31 - 1) + bytes(4)
