"""Rows of `connections` out of what the kernels tell of those that they had alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netdiag.traffic.engine.addresses import endpoint_text
from netdiag.traffic.engine.compiled.lane_state import HAS_FIN, OPENED, REPLIED, TALKING, Array
from netdiag.traffic.engine.compiled.lane_wishes import ENDINGS, Wishes
from netdiag.traffic.engine.message import Spoken
from netdiag.traffic.places import Places
from netdiag.traffic.rows import ConnectionRow

Wanted = Callable[[str, str, str | None], bool]


def take_rows(
    wishes: Wishes,
    keys: Array,
    files: Mapping[int, str],
    interfaces: Sequence[str],
    places: Places,
    is_wanted: Wanted,
) -> list[ConnectionRow]:
    """Those of the connections that are over, which are forgotten then.

    `keys`: the pairs of addresses by number; `is_wanted`: of a client, a broker and a client id.
    """
    count = int(wishes.figures[ENDINGS])
    wishes.figures[ENDINGS] = 0
    ended = wishes.ended[:count]
    told = []
    for row, key in zip(ended, keys[ended["key"]], strict=True):
        width = int(key["width"])
        client = endpoint_text(key["source"].tobytes()[:width], int(key["source_port"]))
        broker = endpoint_text(key["destination"].tobytes()[:width], int(key["destination_port"]))
        length = int(row["client_id_length"])
        client_id = None if length < 0 else row["client_id"].tobytes()[:length].decode("ascii")
        if is_wanted(client, broker, client_id):
            told.append(_row(row, client, broker, client_id, wishes, files, interfaces, places))
    return told


def software_text(wishes: Wishes, number: int) -> str | None:
    """What a client calls itself."""
    if number < 0:
        return None
    known = wishes.softwares[number]
    return str(known["text"].tobytes()[: int(known["length"])].decode("ascii").rstrip())


def _row(
    row: Any,
    client: str,
    broker: str,
    client_id: str | None,
    wishes: Wishes,
    files: Mapping[int, str],
    interfaces: Sequence[str],
    places: Places,
) -> ConnectionRow:
    told: dict[str, Any] = {name: row[name].tolist() for name in row.dtype.names}
    stage, reset, interface = told["stage"], told["reset"], interfaces[told["interface"]]
    named = places.name(client, broker)
    return ConnectionRow(
        connection=told["number"],
        client=client,
        broker=broker,
        first_time=told["first_time"],
        last_time=told["last_time"],
        opening="complete" if stage >= OPENED else "half" if stage == REPLIED else "unanswered",
        ending=_ending(told["fin"], reset),
        handshake_ms=(told["acknowledged"] - told["asked"]) / 1e6 if stage >= OPENED else None,
        protocol=(Spoken.KAFKA if stage == TALKING else Spoken.NONE).value,
        sasl_mechanism=None,
        server_name=None,
        client_software=software_text(wishes, told["software"]),
        client_id=client_id,
        client_packets=told["packets"][0],
        broker_packets=told["packets"][1],
        client_bytes=told["bytes"][0],
        broker_bytes=told["bytes"][1],
        requests=told["requests"],
        responses=told["responses"],
        retransmissions=told["retransmissions"],
        out_of_order=0,
        duplicates=told["duplicates"],
        zero_windows=told["zero_windows"],
        keep_alives=told["keep_alives"],
        lost_bytes=0,
        truncated_bytes=told["truncated_bytes"],
        seen_as=None,
        interfaces=(interface,) if interface else None,
        digest=told["digest"] if told["requests"] + told["responses"] else None,
        relay_of=None,
        client_name=named.client,
        broker_name=named.broker,
        listener=named.listener,
        file=files[told["file"]],
    )


def _ending(fin: int, reset: int) -> str:
    if reset >= 0:
        return "reset-by-broker" if reset else "reset-by-client"
    return "fin" if fin & HAS_FIN else "open"
