"""Rows of `connections` out of what the kernels tell of those that they had alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netdiag.traffic.engine.addresses import endpoint_text
from netdiag.traffic.engine.compiled.lane_state import CALLED, HAS_FIN, OPENED, REPLIED, TALKING, Array
from netdiag.traffic.engine.compiled.lane_wishes import ENDINGS, Wishes
from netdiag.traffic.engine.message import Spoken
from netdiag.traffic.places import Places
from netdiag.traffic.rows import ConnectionRow

Wanted = Callable[[str, str, str | None], bool]
_OPENINGS = {CALLED: "unanswered", REPLIED: "half", OPENED: "complete", TALKING: "complete"}
_AS_THEY_ARE = (
    "first_time",
    "last_time",
    "requests",
    "responses",
    "retransmissions",
    "duplicates",
    "zero_windows",
    "keep_alives",
    "truncated_bytes",
)


def take_rows(
    wishes: Wishes,
    keys: Array,
    client_ids: Sequence[str | None],
    files: Mapping[int, str],
    interfaces: Sequence[str],
    places: Places,
    is_wanted: Wanted,
) -> list[ConnectionRow]:
    """Those of the connections that are over, which are forgotten then.

    `keys`: the pairs of addresses by number; `client_ids`: of those that are over; `is_wanted`: of a client, a
    broker and a client id.
    """
    count = int(wishes.figures[ENDINGS])
    wishes.figures[ENDINGS] = 0
    ended = wishes.ended[:count]
    pairs = keys[ended["key"]]
    clients, brokers = _endpoints(pairs, "source"), _endpoints(pairs, "destination")
    wanted = [at for at, ends in enumerate(zip(clients, brokers, client_ids, strict=True)) if is_wanted(*ends)]
    ended = ended[wanted]
    columns = _columns(ended, [software_text(wishes, number) for number in ended["software"].tolist()])
    columns["client"], columns["broker"], columns["client_id"] = (
        [texts[at] for at in wanted] for texts in (clients, brokers, client_ids)
    )
    named = [*map(places.name, columns["client"], columns["broker"])]
    for name, which in (("client_name", 0), ("broker_name", 1), ("listener", 2)):
        columns[name] = [names[which] for names in named]
    shown = [(name,) if name else None for name in interfaces]
    columns["interfaces"] = [shown[number] for number in ended["interface"].tolist()]
    columns["file"] = [files[number] for number in ended["file"].tolist()]
    return [*map(ConnectionRow._make, zip(*(columns[name] for name in ConnectionRow._fields), strict=True))]


def software_text(wishes: Wishes, number: int) -> str | None:
    """What a client calls itself."""
    if number < 0:
        return None
    known = wishes.softwares[number]
    return str(known["text"].tobytes()[: int(known["length"])].decode("ascii").rstrip())


def _endpoints(pairs: Array, name: str) -> list[str]:
    addresses, size = pairs[name].tobytes(), pairs[name].shape[1]
    widths, ports = pairs["width"].tolist(), pairs[f"{name}_port"].tolist()
    return [
        endpoint_text(addresses[at * size : at * size + width], port)
        for at, (width, port) in enumerate(zip(widths, ports, strict=True))
    ]


def _columns(ended: Array, softwares: list[str | None]) -> dict[str, list[Any]]:
    """By name; what such connections never have is as it is where there is none."""
    count = len(ended)
    columns: dict[str, list[Any]] = {name: ended[name].tolist() for name in _AS_THEY_ARE}
    stages, said = ended["stage"].tolist(), (ended["requests"] + ended["responses"]).tolist()
    took = (ended["acknowledged"] - ended["asked"]).tolist()
    columns["connection"] = ended["number"].tolist()
    columns["opening"] = [_OPENINGS[stage] for stage in stages]
    columns["ending"] = [*map(_ending, ended["fin"].tolist(), ended["reset"].tolist())]
    columns["handshake_ms"] = [
        time / 1e6 if stage >= OPENED else None for time, stage in zip(took, stages, strict=True)
    ]
    columns["protocol"] = [(Spoken.KAFKA if stage == TALKING else Spoken.NONE).value for stage in stages]
    columns["client_software"] = softwares
    for side, name in enumerate(("client", "broker")):
        columns[f"{name}_packets"] = ended["packets"][:, side].tolist()
        columns[f"{name}_bytes"] = ended["bytes"][:, side].tolist()
    columns["digest"] = [
        digest if messages else None for digest, messages in zip(ended["digest"].tolist(), said, strict=True)
    ]
    columns |= dict.fromkeys(("sasl_mechanism", "server_name", "seen_as", "relay_of"), [None] * count)
    columns |= dict.fromkeys(("out_of_order", "lost_bytes"), [0] * count)
    return columns


def _ending(fin: int, reset: int) -> str:
    if reset >= 0:
        return "reset-by-broker" if reset else "reset-by-client"
    return "fin" if fin & HAS_FIN else "open"
