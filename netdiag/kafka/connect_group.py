"""What the group of Connect workers has agreed on, as DescribeGroups tells it: who leads, and the URL of each member.

The workers put their own messages into the group protocol (`ConnectProtocol`, `IncrementalCooperativeConnectProtocol`).
Their versions 0 to 2 begin alike: the metadata of a member with its URL, its assignment with the leader and its URL.
Requests are of version 0, which brokers from 0.9 to 4.x answer.
"""

import struct
from collections.abc import Mapping
from typing import Any

from netdiag.kafka.error_codes import NONE, error_name
from netdiag.kafka.protocol import DecodeError, decode_response, encode_request
from netdiag.values import dataclass

# The longest answer that is read: a member takes about 200 bytes.
LARGEST_ANSWER = 1024 * 1024
_FIND_COORDINATOR, _DESCRIBE_GROUPS = 10, 15
_MOST_VALUES = 20_000
_MOST_MEMBERS = 500
_LONGEST_URL = 1000
_PROTOCOL_TYPE = "connect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinator:
    """The broker that manages a group, as it is advertised."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectMember:
    """A worker: the URL that it registered, the address that it connects from, and whether it leads."""

    url: str
    client_host: str
    leads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectGroup:
    """The workers of a group; `leader_url` is empty while the group has no assignment."""

    members: tuple[ConnectMember, ...] = ()
    leader_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoGroup:
    """Why a broker tells nothing of a group."""

    because: str


def coordinator_request(group: str) -> bytes:
    """Who manages the group?"""
    return encode_request(_FIND_COORDINATOR, 0, 1, "netdiag", {"key": group})


def read_coordinator(frame: bytes) -> Coordinator | NoGroup:
    """The answer to that."""
    value = _value(frame, _FIND_COORDINATOR)
    if isinstance(value, NoGroup):
        return value
    if value["error_code"] != NONE:
        return NoGroup(because=f"FindCoordinator fails: {error_name(value['error_code'])}")
    return Coordinator(host=value["host"], port=value["port"])


def group_request(group: str) -> bytes:
    """Who is in the group?"""
    return encode_request(_DESCRIBE_GROUPS, 0, 1, "netdiag", {"groups": (group,)})


def read_group(frame: bytes) -> ConnectGroup | NoGroup:
    """The answer to that; what no worker wrote is left out."""
    value = _value(frame, _DESCRIBE_GROUPS)
    if isinstance(value, NoGroup):
        return value
    if len(value["groups"]) != 1:
        return NoGroup(because="its answer is about another group")
    (group,) = value["groups"]
    if group["error_code"] != NONE:
        return NoGroup(because=f"DescribeGroups fails: {error_name(group['error_code'])}")
    if group["protocol_type"] != _PROTOCOL_TYPE:
        return NoGroup(because="the group has no Connect workers")
    leader, leader_url = "", ""
    members = []
    for member in group["members"][:_MOST_MEMBERS]:
        assigned = _leader(bytes(member["member_assignment"]))
        if assigned is not None:
            leader, leader_url = assigned
        url = _url(bytes(member["member_metadata"]))
        if url is not None:
            members.append((member["member_id"], url, member["client_host"].lstrip("/")))
    return ConnectGroup(
        members=tuple(
            ConnectMember(url=url, client_host=host, leads=bool(leader) and name == leader)
            for name, url, host in members
        ),
        leader_url=leader_url,
    )


def _value(frame: bytes, api_key: int) -> Mapping[str, Any] | NoGroup:
    try:
        return decode_response(frame, api_key, 0, max_values=_MOST_VALUES).body.value
    except DecodeError as error:
        return NoGroup(because=f"its answer cannot be read: {error}")


def _url(metadata: bytes) -> str | None:
    """The URL in what a worker tells of itself: behind the version of its protocol."""
    found = _text(metadata, 2)
    return found[0] if found else None


def _leader(assignment: bytes) -> tuple[str, str] | None:
    """The leader's member id and URL in an assignment: behind version and error."""
    leader = _text(assignment, 4)
    url = _text(assignment, leader[1]) if leader else None
    return (leader[0], url[0]) if leader and url else None


def _text(data: bytes, start: int) -> tuple[str, int] | None:
    """A text with its length before it, and where it ends; None where there is none."""
    if len(data) < start + 2:
        return None
    (length,) = struct.unpack_from(">h", data, start)
    end = start + 2 + length
    if not 0 <= length <= _LONGEST_URL or end > len(data):
        return None
    try:
        return data[start + 2 : end].decode(), end
    except UnicodeDecodeError:
        return None
