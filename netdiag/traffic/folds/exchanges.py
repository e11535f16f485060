"""The folds of `exchanges`."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.folds.fold import Fold
from netdiag.traffic.folds.making import hosts

_EXCHANGES = "exchanges"

FOLDS: Mapping[str, Fold] = {
    "coverage": Fold(
        of=_EXCHANGES,
        keys=("api_name", "api_version", "decoded", "outcome"),
        sums=("request_bytes", "response_bytes"),
    ),
    "api_versions": Fold(
        of=_EXCHANGES,
        keys=("api_name", "api_key", "api_version", "client", "client_id", "client_name"),
        made={"client": hosts("client")},
        where=lambda rows: _both(pc.is_valid(rows["api_key"]), pc.is_valid(rows["api_version"])),
    ),
}


def _both(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.and_(one, other)
