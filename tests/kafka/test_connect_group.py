"""What DescribeGroups tells of a group of Connect workers, and what strangers may answer instead."""

import random
import struct
from typing import Any

import pytest

from netdiag.kafka.connect_group import (
    ConnectGroup,
    ConnectMember,
    Coordinator,
    NoGroup,
    coordinator_request,
    group_request,
    read_coordinator,
    read_group,
)
from netdiag.kafka.protocol import decode_request, encode_response


def text(value: str) -> bytes:
    return struct.pack(">h", len(value.encode())) + value.encode()


def metadata(url: str, version: int = 2) -> bytes:
    """Version, URL, offset; from version 1 on, the current assignment follows."""
    return struct.pack(">h", version) + text(url) + struct.pack(">q", 5) + (struct.pack(">i", -1) if version else b"")


def assignment(leader: str, url: str, version: int = 2) -> bytes:
    """Version, error, leader, its URL, offset, and lists of connectors."""
    return struct.pack(">hh", version, 0) + text(leader) + text(url) + struct.pack(">qi", 5, 0)


def member(name: str, host: str, data: bytes, assigned: bytes) -> dict[str, Any]:
    return {
        "member_id": name,
        "client_id": name,
        "client_host": host,
        "member_metadata": data,
        "member_assignment": assigned,
    }


def answer(*members: dict[str, Any], error_code: int = 0, protocol_type: str = "connect") -> bytes:
    group = {
        "error_code": error_code,
        "group_id": "connect",
        "group_state": "Stable",
        "protocol_type": protocol_type,
        "protocol_data": "sessioned",
        "members": members,
    }
    return encode_response(15, 0, 1, {"groups": (group,)})[4:]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_group(version: int) -> None:
    one, two = "http://connect-1:8083/", "https://connect-2:8443/"
    assigned = assignment("b", two, version)
    frame = answer(
        member("a", "/172.18.0.3", metadata(one, version), assigned),
        member("b", "/172.18.0.4", metadata(two, version), assigned),
    )
    assert read_group(frame) == ConnectGroup(
        members=(
            ConnectMember(url=one, client_host="172.18.0.3"),
            ConnectMember(url=two, client_host="172.18.0.4", leads=True),
        ),
        leader_url=two,
    )


def test_group_without_an_assignment() -> None:
    found = read_group(answer(member("a", "/172.18.0.3", metadata("http://connect-1:8083/"), b"")))
    assert found == ConnectGroup(members=(ConnectMember(url="http://connect-1:8083/", client_host="172.18.0.3"),))


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\0\2", b"\0\2\x7f\xffhttp", b"\0\2\xff\xff", b"\0\2\0\2\xff\xfe", b"\0\2\0\x05http"]
)
def test_what_no_worker_wrote_is_left_out(data: bytes) -> None:
    assert read_group(answer(member("a", "/172.18.0.3", data, data))) == ConnectGroup()


@pytest.mark.parametrize(
    ("frame", "because"),
    [
        (answer(error_code=16), "DescribeGroups fails: NOT_COORDINATOR"),
        (answer(protocol_type="consumer"), "the group has no Connect workers"),
        (answer(protocol_type=""), "the group has no Connect workers"),
        (encode_response(15, 0, 1, {"groups": ()})[4:], "its answer is about another group"),
    ],
)
def test_no_group(frame: bytes, because: str) -> None:
    assert read_group(frame) == NoGroup(because=because)


def test_damaged_answers_are_refused_or_read() -> None:
    frame = answer(member("a", "/172.18.0.3", metadata("http://connect-1:8083/"), assignment("a", "http://c:1/")))
    chance = random.Random(1)
    for _ in range(2000):
        damaged = bytearray(frame)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(4, len(damaged))] = chance.randrange(256)
        assert isinstance(read_group(bytes(damaged[: chance.randint(4, len(damaged))])), ConnectGroup | NoGroup)


def test_coordinator() -> None:
    frame = encode_response(10, 0, 1, {"error_code": 0, "node_id": 1, "host": "kafka", "port": 29092})[4:]
    assert read_coordinator(frame) == Coordinator(host="kafka", port=29092)
    frame = encode_response(10, 0, 1, {"error_code": 15, "node_id": -1, "host": "", "port": -1})[4:]
    assert read_coordinator(frame) == NoGroup(because="FindCoordinator fails: COORDINATOR_NOT_AVAILABLE")
    assert isinstance(read_coordinator(b"HTTP/1.1 400"), NoGroup)


def test_requests() -> None:
    assert decode_request(coordinator_request("connect")[4:]).body.value == {"key": "connect"}
    assert decode_request(group_request("connect")[4:]).body.value == {"groups": ("connect",)}
