"""What `ip -d -j` and `bridge -d -j` say of a namespace."""

import json
import subprocess
from collections.abc import Mapping
from typing import Any

# What was asked for -> the documents that were printed.
Iproute2Output = Mapping[str, list[dict[str, Any]]]

COMMANDS: Mapping[str, str] = {
    "link": "ip -d -j link show",
    "addr": "ip -d -j addr show",
    "route": "ip -d -j -N -4 route show table all",
    "route6": "ip -d -j -N -6 route show table all",
    "rule": "ip -d -j -N -4 rule show",
    "rule6": "ip -d -j -N -6 rule show",
    "neigh": "ip -d -j neigh show nud all",
    "proxy": "ip -d -j -4 neigh show proxy",
    "proxy6": "ip -d -j -6 neigh show proxy",
    "fdb": "bridge -d -j fdb show",
    "vlan": "bridge -j -compressvlans vlan show",
}
_BETWEEN = b"\x00\x01next\x01\x00"
_SCRIPT = "\n".join(f"{command} 2>/dev/null; printf '\\000\\001next\\001\\000'" for command in COMMANDS.values())


def ask(descriptor: int) -> Iproute2Output:
    """All of it, in the namespace behind `descriptor`, by one shell."""
    done = subprocess.run(
        ["nsenter", f"--net=/proc/self/fd/{descriptor}", "sh", "-c", _SCRIPT],
        pass_fds=(descriptor,),
        capture_output=True,
        check=True,
        timeout=120,
    )
    return parse(dict(zip(COMMANDS, done.stdout.split(_BETWEEN), strict=False)))


def parse(printed: Mapping[str, bytes]) -> Iproute2Output:
    """Names that are not UTF-8 as netdiag tells them; iproute2 prints control characters as they are."""
    return {name: _legible(json.loads(_text(raw) or "[]", strict=False)) for name, raw in printed.items()}


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape").strip()


def _legible(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, list):
        return [_legible(one) for one in value if one != {}]
    if isinstance(value, dict):
        return {_legible(key): _legible(one) for key, one in value.items()}
    return value
