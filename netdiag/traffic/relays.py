"""Which connections are relays of others: what a proxy passes on is said on two connections, and counts once.

A proxy connects as soon as it was connected to, and both ends of the captures are on one machine. That the same was
said on two connections at about the same time proves little where it is short, as every client of one library asks the
same first. So an address is a proxy's only where its connections have relays for more than a trifle of all that was
said on them; an address that answers much itself is a broker's.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

COLUMNS = ("connection", "client", "broker", "first_time", "opening", "digest", "client_bytes", "broker_bytes")
OPENED_WITHIN_US = 50_000
# Of so many that said the same before it, the one that it relays is looked for.
_NEAREST = 100
# An address whose connections have relays for less than this part of their bytes is no proxy's.
_TRIFLE = 0.01


def relays_among(connections: pa.Table) -> dict[int, int]:
    """The connections that are relays, each with the one that it relays; the table has `COLUMNS`, with microseconds."""
    spoken = connections.select(COLUMNS).filter(pc.is_valid(connections["digest"]))
    if spoken.num_rows < 2:
        return {}
    numbers, times = (spoken[name].cast(pa.int64()).to_numpy() for name in ("connection", "first_time"))
    hosts = _numbered(pc.replace_substring_regex(spoken["client"], r":[0-9]+$", ""))
    brokers = _numbered(spoken["broker"])
    said = np.stack([spoken[name].to_numpy() for name in ("digest", "client_bytes", "broker_bytes")])
    # Those that said the same stand together, the later ones behind the earlier ones.
    order = np.lexsort((numbers, times, *said))
    said, numbers, times, hosts, brokers = said[:, order], numbers[order], times[order], hosts[order], brokers[order]
    relayed = np.full(len(order), -1)
    left = np.arange(1, len(order))
    for distance in range(1, _NEAREST + 1):
        outer = left - distance
        left, outer = left[outer >= 0], outer[outer >= 0]
        near = (said[:, left] == said[:, outer]).all(axis=0) & (times[left] - times[outer] <= OPENED_WITHIN_US)
        left, outer = left[near], outer[near]
        differs = (hosts[left] != hosts[outer]) & (brokers[left] != brokers[outer])
        relayed[left[differs]] = outer[differs]
        left = left[~differs]
        if len(left) == 0:
            break
    inner = np.flatnonzero(relayed >= 0)
    outer = relayed[inner]
    sizes = said[1] + said[2]
    opened = pc.equal(spoken["opening"], "complete").to_numpy()[order]
    whole = np.bincount(brokers, np.where(opened, sizes, 0))
    again = np.bincount(brokers[outer], sizes[outer], minlength=len(whole))
    proxies = again >= _TRIFLE * whole
    kept = proxies[brokers[outer]]
    return dict(zip(numbers[inner[kept]].tolist(), numbers[outer[kept]].tolist(), strict=True))


def _numbered(texts: pa.ChunkedArray) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """A number for each text, the same for the same."""
    return np.asarray(texts.combine_chunks().dictionary_encode().indices, np.int64)
