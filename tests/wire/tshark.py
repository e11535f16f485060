"""What tshark reads in a capture: every Kafka message it shows, with the fields of its header. An oracle.

tshark decides by port, so it must be told every broker port. Of a response it knows what it is by the request that it
kept under the correlation id. What it does not read whole or well it says itself (`faults`).
"""

import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from tests.debian import find

UNSUPPORTED, UNKNOWN_KEY, MISMATCH, MALFORMED, MISSING = (
    "kafka.unsupported_api_version",
    "kafka.unknown_api_key",
    "kafka.pdu_length_mismatch",
    "_ws.malformed",
    "kafka.request_missing",
)
_FAULTS = frozenset({UNSUPPORTED, UNKNOWN_KEY, MISMATCH, MALFORMED, MISSING})
_NULL = "[ Null ]"
_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One Kafka message as tshark shows it, in the packet `frame` that completes it, `time` in nanoseconds.

    `size` is its size field. Of a response `api_key`, `api_version` and `request_frame` are those of the request that
    tshark holds it to answer, None where it found none. `errors`: all error codes in order. `behind_client`: the first
    four bytes of a request behind its client id, as far as tshark shows them.
    """

    frame: int
    time: int
    stream: int
    source: str
    destination: str
    size: int
    is_request: bool
    api_key: int | None
    api_version: int | None
    correlation_id: int
    client_id: str | None
    request_frame: int | None
    errors: tuple[int, ...]
    faults: frozenset[str]
    behind_client: bytes


def available() -> str | None:
    """The version of tshark here, as in 4.0.17."""
    binary = find("tshark")
    if binary is None:
        return None
    printed = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+\.\d+\.\d+)", printed)
    return found[1] if found else None


def read_messages(file: Path, ports: Collection[int]) -> list[Message]:
    """Every Kafka message that tshark shows, in its order, when told that brokers listen on `ports`."""
    command = [
        find("tshark") or "tshark",
        "-r",
        str(file),
        "-n",
        "-Y",
        "kafka",
        "-T",
        "pdml",
        "-J",
        "kafka tcp ip ipv6",
    ]
    for port in sorted(ports):
        command += ["-d", f"tcp.port=={port},kafka"]
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, timeout=_SECONDS, check=False)
        # 2: the file is cut in the middle of a packet; all before it was read.
        if done.returncode not in (0, 2):
            raise RuntimeError(f"tshark: exit {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
        output.seek(0)
        return list(_packets(output))


def _packets(output: IO[bytes]) -> Iterator[Message]:
    for _, element in ElementTree.iterparse(output):
        if element.tag == "packet":
            yield from _messages(element)
            element.clear()


def _messages(packet: ElementTree.Element) -> list[Message]:
    found: list[Message] = []
    frame, time, addresses, stream, ports = 0, 0, ("", ""), -1, ("", "")
    for layer in packet:
        name = layer.get("name")
        if name == "geninfo":
            facts = {field.get("name"): field for field in layer}
            frame = int(facts["num"].get("show", "0"))
            seconds, _, fraction = facts["timestamp"].get("value", "0.0").partition(".")
            time = int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9])
        elif name in ("ip", "ipv6"):
            addresses = (_show(layer, f"{name}.src"), _show(layer, f"{name}.dst"))
        elif name == "tcp":
            stream = int(_show(layer, "tcp.stream"))
            ports = (_show(layer, "tcp.srcport"), _show(layer, "tcp.dstport"))
        elif name == "kafka":
            source, destination = (_join(address, port) for address, port in zip(addresses, ports, strict=True))
            message = _message(layer, frame, time, stream, source, destination)
            if message is not None:
                found.append(message)
        elif name == MALFORMED and found:
            # Stands behind the message at whose end tshark gave up.
            found[-1] = replace(found[-1], faults=found[-1].faults | {MALFORMED})
    return found


def _message(
    layer: ElementTree.Element, frame: int, time: int, stream: int, source: str, destination: str
) -> Message | None:
    fields: dict[str, list[ElementTree.Element]] = {}
    faults = set()
    for element in layer.iter():
        name = element.get("name", "")
        fields.setdefault(name, []).append(element)
        if name in _FAULTS:
            faults.add(name)
    if "kafka.correlation_id" not in fields or "kafka.len" not in fields:
        return None
    is_request = "kafka.request_key" in fields
    # A response may tell of the client ids of others.
    client_id = _first(fields, "kafka.client_id") if is_request else None
    version = _first(fields, "kafka.request.version" if is_request else "kafka.response.version")
    return Message(
        frame=frame,
        time=time,
        stream=stream,
        source=source,
        destination=destination,
        size=_number(fields, "kafka.len") or 0,
        is_request=is_request,
        api_key=_number(fields, "kafka.api_key"),
        api_version=None if version is None else int(version),
        correlation_id=_number(fields, "kafka.correlation_id") or 0,
        client_id=None if client_id == _NULL else client_id,
        request_frame=_number(fields, "kafka.request_frame"),
        errors=tuple(int(element.get("show", "0")) for element in fields.get("kafka.error", ())),
        faults=frozenset(faults),
        behind_client=_behind_client(layer),
    )


def _behind_client(layer: ElementTree.Element) -> bytes:
    names = [field.get("name") for field in layer]
    if "kafka.client_id" not in names:
        return b""
    values = [field.get("value", "") for field in list(layer)[names.index("kafka.client_id") + 1 :]]
    return bytes.fromhex("".join(values[:4])[:8])


def _show(layer: ElementTree.Element, name: str) -> str:
    return next((element.get("show", "") for element in layer.iter("field") if element.get("name") == name), "")


def _first(fields: dict[str, list[ElementTree.Element]], name: str) -> str | None:
    return fields[name][0].get("show") if name in fields else None


def _number(fields: dict[str, list[ElementTree.Element]], name: str) -> int | None:
    shown = _first(fields, name)
    return None if shown is None else int(shown)


def _join(address: str, port: str) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
