"""What the kernels are asked for of the connections that they open: rows of all, messages of a share, some ports."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netdiag.traffic.engine.options import EngineOptions

Array = NDArray[Any]

MOST_CLIENT_ID = 64

ENDED = np.dtype(
    [
        ("number", "i8"),
        ("first_time", "i8"),
        ("last_time", "i8"),
        ("asked", "i8"),
        ("acknowledged", "i8"),
        ("requests", "i8"),
        ("responses", "i8"),
        ("digest", "i8"),
        ("packets", "i8", (2,)),
        ("bytes", "i8", (2,)),
        ("retransmissions", "i8"),
        ("duplicates", "i8"),
        ("zero_windows", "i8"),
        ("keep_alives", "i8"),
        ("truncated_bytes", "i8"),
        ("key", "i4"),
        ("context", "i4"),
        ("file", "i4"),
        ("interface", "i2"),
        ("software", "i2"),
        ("stage", "u1"),
        ("fin", "u1"),
        ("reset", "i1"),
    ],
    align=True,
)
"""A connection that the twin has never seen and that is over: what its row tells. Names as of BIRTH and DIRECTION;
what its client id is, its context says."""

SOFTWARE = np.dtype([("length", "u2"), ("text", "u1", (256,))], align=True)
"""What clients call themselves, name and version: each once, and told by its number."""

_MOST_ENDED, _MOST_SOFTWARES = 1 << 12, 64
_PORTS = 1 << 16

# What `Wishes.figures` holds: how many of `ended` and of `softwares` there are; connections of `CLASS` modulo
# `CLASSES` are listened to.
ENDINGS, SOFTWARES, CLASS, CLASSES = range(4)


class Wishes(NamedTuple):
    """`ended` has no room where nobody asks for rows of connections, `ports`, by number, none where all are wanted."""

    ended: Array
    softwares: Array
    ports: Array
    figures: Array


def new_wishes(options: EngineOptions | None = None) -> Wishes:
    """As the engine is asked for; of all connections their messages only."""
    options = options or EngineOptions(tables=frozenset())
    wants_rows = "connections" in options.tables
    ports = np.zeros(_PORTS if options.ports else 0, "u1")
    ports[[port for port in options.ports if 0 <= port < _PORTS]] = 1
    return Wishes(
        ended=np.zeros(_MOST_ENDED if wants_rows else 0, ENDED),
        softwares=np.zeros(_MOST_SOFTWARES if wants_rows else 0, SOFTWARE),
        ports=ports,
        figures=np.array([0, 0, *options.flow_class], "i8"),
    )
