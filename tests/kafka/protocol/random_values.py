"""Random but well-formed values for any message layout, and the fields that a release renamed on the way."""

import random
import struct
import uuid
from typing import Any

from netdiag.kafka import protocol as wire

RANGES = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
ALPHABET = "abcXYZ019._-/ äé語\n\x00😀"
ERROR_CODES = (-1, 0, 3, 35, 42, 110)


class RandomValues:
    """Values that every reader must be able to hold.

    With `tame`, only those that kio's richer types can hold, too: error codes that exist, times that are dates.
    """

    def __init__(self, seed: int | str, *, tame: bool = True, most_elements: int = 3) -> None:
        self._random = random.Random(seed)
        self._tame = tame
        self._most_elements = most_elements

    def struct(self, layout: wire.Layout) -> dict[str, Any]:
        value = {field.name: self.field(field) for field in layout.fields}
        for field in layout.tagged.values():
            value[field.name] = self.field(field) if self._random.random() < 0.7 else field.default
        return value

    def field(self, field: wire.Field) -> Any:
        if field.nullable and self._random.random() < 0.25:
            return None
        if field.array:
            return tuple(self._element(field) for _ in range(self._random.randint(0, self._most_elements)))
        return self._element(field)

    def _element(self, field: wire.Field) -> Any:
        rnd = self._random
        if field.layout is not None:
            return self.struct(field.layout)
        match field.kind:
            case "bool":
                return rnd.random() < 0.5
            case "string":
                # the longest ones need a second byte of a varint length
                size = rnd.choice((0, 1, 5, 40, 140))
                return "".join(rnd.choice(ALPHABET) for _ in range(size))
            case "bytes" | "records":
                return rnd.randbytes(rnd.choice((0, 1, 130, 300)))
            case "uuid":
                return uuid.UUID(int=rnd.choice((0, rnd.getrandbits(128))))
            case "float64":
                return struct.unpack(">d", struct.pack(">d", rnd.uniform(-1e9, 1e9)))[0]
            case kind:
                return self._integer(field.name, kind)

    def _integer(self, name: str, kind: str) -> int:
        rnd = self._random
        if self._tame and name.endswith("error_code"):
            return rnd.choice(ERROR_CODES)
        if self._tame and name.endswith("_ms"):
            # whole seconds, as some kio releases keep no more of a date
            return rnd.randint(0, 2_000_000) * 1000
        low, high = RANGES[kind]
        return rnd.choice((0, 1, -1 if low < 0 else 1, low, high, rnd.randint(low, high)))


def every_message() -> list[tuple[int, int, wire.Direction]]:
    """Every api key, version and direction of the table."""
    return [
        (api_key, version, direction)
        for api_key in wire.api_keys()
        for version in wire.api_versions(api_key)
        for direction in wire.Direction
    ]


# (api key, older name) -> name in the table.
RENAMED = {
    (28, "generation_id"): "generation_id_or_member_epoch",
    (52, "candidate_epoch"): "replica_epoch",
    (52, "candidate_id"): "replica_id",
    (52, "candidate_directory_id"): "replica_directory_id",
    (74, "client_metrics_resources"): "config_resources",
    (74, "name"): "resource_name",
    (88, "acceptable_recovery_lag"): "acceptable_recovery_lag_legacy",
}
