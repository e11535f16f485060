"""Reading the connections that a namespace tracks, by ctnetlink, in a thread that is in it."""

from itertools import islice

from netdiag.errors import NetdiagError
from netdiag.io.kernel.netlink import Channel, Refused
from netdiag.linux.conntrack import TrackedConnection, decode_connection, get_connections

MOST_CONNECTIONS = 20_000


def read_connections(channel: Channel) -> tuple[tuple[TrackedConnection, ...], tuple[str, ...]]:
    """The connections of the namespace in which `channel` (of nfnetlink) was opened, and what could not be read.

    A kernel without connection tracking has none.
    """
    try:
        found = [
            decode_connection(payload) for _, payload in islice(channel.dump(get_connections()), MOST_CONNECTIONS + 1)
        ]
    except Refused as error:
        return (), (() if error.number else (f"connections: {error.message}",))
    except NetdiagError as error:
        return (), (f"connections: {error.message}",)
    known = tuple(one for one in found[:MOST_CONNECTIONS] if one is not None)
    more = len(found) > MOST_CONNECTIONS
    return known, ((f"connections: more than {MOST_CONNECTIONS}, the rest is not shown",) if more else ())
