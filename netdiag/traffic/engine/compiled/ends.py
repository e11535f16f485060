"""Whose pairs of messages are: connections as rows have them, and all of some pairs together.

Most contexts are written by kernels, as bytes, and become texts of rows without an object in Python; those of the
twin's connections are told as `Ends`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from netdiag.traffic.engine.addresses import endpoint_text
from netdiag.traffic.engine.compiled.arenas import Numbers
from netdiag.traffic.engine.compiled.lane_wishes import MOST_CLIENT_ID

CONTEXT = np.dtype(
    [
        ("stamp", "i8"),
        ("number", "i8"),
        ("source", "u1", (16,)),
        ("destination", "u1", (16,)),
        ("source_port", "u2"),
        ("destination_port", "u2"),
        ("client_id_length", "i2"),
        ("width", "u1"),
        ("client_id", "u1", (MOST_CLIENT_ID,)),
    ],
    align=True,
)
"""The context of a connection that the kernels opened. `stamp` is another one each time that the number of a context is
given away, 0 while it is nobody's. `width`: of the addresses, 0 where there are `Ends` instead."""


class Ends(NamedTuple):
    """A connection: its number, address:port of both ends, the client id that was seen first."""

    number: int
    client: str
    broker: str
    client_id: str | None


class Connections(NamedTuple):
    """Those of some pairs: `indices` are their contexts, each once, `rows` of CONTEXT what these were then.

    `places`: of each pair, which of them it has. `told`: by context, where the row does not say it.
    """

    indices: Numbers
    places: Numbers
    rows: Numbers
    told: Mapping[int, Ends]

    def ends(self, place: int) -> Ends:
        """One of them as an object."""
        told = self.told.get(int(self.indices[place]))
        return ends_of(self.rows[place]) if told is None else told


def ends_of(row: Any) -> Ends:
    """What a row of CONTEXT says."""
    width, length = int(row["width"]), int(row["client_id_length"])
    client_id = None if length < 0 else row["client_id"].tobytes()[:length].decode("ascii")
    return Ends(
        int(row["number"]),
        endpoint_text(row["source"].tobytes()[:width], int(row["source_port"])),
        endpoint_text(row["destination"].tobytes()[:width], int(row["destination_port"])),
        client_id,
    )
