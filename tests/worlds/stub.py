#!/usr/bin/python3
"""A stand-in for a broker: it binds and advertises as the variables of the image say, stores nothing.

Laid over the start script of a broker's image, so that everything around it is a broker's. It answers ApiVersions,
Metadata (itself, at what it advertises on the listener that was entered) and, by DescribeConfigs, who it is.
"""

import os
import re
import socket
import struct
import threading

API_VERSIONS, METADATA, DESCRIBE_CONFIGS = 18, 3, 32
OFFERED = ((API_VERSIONS, 0, 0), (METADATA, 1, 4), (DESCRIBE_CONFIGS, 1, 1))
UNSUPPORTED_VERSION, INVALID_REQUEST = 35, 42

NODE_ID = int(os.environ["KAFKA_NODE_ID"])
CLUSTER_ID = os.environ["CLUSTER_ID"]


def endpoints(text: str) -> list[tuple[str, str, int]]:
    """(listener, host, port) of a list of listeners."""
    return [(name, host, int(port)) for name, host, port in re.findall(r"(\w+)://([^,:]*):(\d+)", text)]


def string(text: str) -> bytes:
    """As Kafka writes it."""
    return struct.pack(">h", len(text.encode())) + text.encode()


def api_versions(version: int) -> bytes:
    """An older broker refuses a version it does not know by the answer of version 0."""
    error = UNSUPPORTED_VERSION if version else 0
    return struct.pack(">hi", error, len(OFFERED)) + b"".join(struct.pack(">hhh", *one) for one in OFFERED)


def metadata(version: int, told: list[tuple[str, int]]) -> bytes:
    """Itself alone, and no topic."""
    body = struct.pack(">i", 0) if version >= 3 else b""
    body += struct.pack(">i", len(told))
    for host, port in told:
        body += struct.pack(">i", NODE_ID) + string(host) + struct.pack(">i", port) + struct.pack(">h", -1)
    body += string(CLUSTER_ID) if version >= 2 else b""
    return body + struct.pack(">ii", NODE_ID, 0)


def describe_configs(asked: str) -> bytes:
    """Its own id; under another, a refusal that tells the right one."""
    if asked == str(NODE_ID):
        answer = struct.pack(">hh", 0, -1)
        setting = string("node.id") + string(str(NODE_ID)) + struct.pack(">?b?i", True, 4, False, 0)
        configs = struct.pack(">i", 1) + setting
    else:
        said = f"Unexpected broker id, expected {NODE_ID} or empty string, but received {asked}"
        answer = struct.pack(">h", INVALID_REQUEST) + string(said)
        configs = struct.pack(">i", 0)
    return struct.pack(">ii", 0, 1) + answer + struct.pack(">b", 4) + string(asked) + configs


def exactly(channel: socket.socket, size: int) -> bytes:
    """So many bytes, or the end."""
    data = b""
    while len(data) < size:
        more = channel.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def serve(channel: socket.socket, told: list[tuple[str, int]]) -> None:
    """One connection."""
    try:
        while True:
            size = struct.unpack(">i", exactly(channel, 4))[0]
            request = exactly(channel, min(size, 1 << 16))
            key, version, number, length = struct.unpack_from(">hhih", request)
            rest = request[10 + max(length, 0) :]
            if key == API_VERSIONS:
                body = api_versions(version)
            elif key == METADATA:
                body = metadata(version, told)
            elif key == DESCRIBE_CONFIGS:
                body = describe_configs(rest[7 : 7 + struct.unpack_from(">h", rest, 5)[0]].decode())
            else:
                return
            channel.sendall(struct.pack(">ii", len(body) + 4, number) + body)
    except (EOFError, OSError, struct.error):
        return
    finally:
        channel.close()


def listen(host: str, port: int, told: list[tuple[str, int]]) -> None:
    """Bind as the JVM does: all addresses for none, else the first IPv4 address of the name."""
    address = socket.getaddrinfo(host or "0.0.0.0", port, socket.AF_INET, socket.SOCK_STREAM)[0][4]
    listener = socket.create_server((str(address[0]), port), backlog=512)
    while True:
        channel, _ = listener.accept()
        threading.Thread(target=serve, args=(channel, told), daemon=True).start()


def main() -> None:
    """Every listener, for good."""
    advertised = endpoints(os.environ["KAFKA_ADVERTISED_LISTENERS"])
    threads = []
    for name, host, port in endpoints(os.environ["KAFKA_LISTENERS"]):
        told = [(there, at) for other, there, at in advertised if other == name]
        threads.append(threading.Thread(target=listen, args=(host, port, told), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
