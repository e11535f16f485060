"""From the contexts that kernels wrote to what rows say of a connection: texts of addresses and client ids."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled import strings
from netdiag.traffic.engine.compiled.arenas import Numbers
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.strings import Strings

MOST_ENDPOINT = 24
"""So many bytes has the text of an address of four bytes with a port, at most."""


@kernel
def sorted_out(
    rows: Numbers, indices: Numbers, stamps: Numbers, plain: bool, new: Numbers, others: Numbers
) -> tuple[int, int]:
    """The places of `rows` that are not the connections of `stamps` yet, which then has them; gives how many.

    Apart are those that `introduce` does not take, which are all where there are no `plain` ones.
    """
    count = odd = 0
    for at in range(len(indices)):
        stamp = rows[at].stamp
        if stamps[indices[at]] != stamp:
            stamps[indices[at]] = stamp
            if plain and rows[at].width == 4:
                new[count] = at
                count += 1
            else:
                others[odd] = at
                odd += 1
    return count, odd


@kernel
def introduce(rows: Numbers, indices: Numbers, new: Numbers, texts: Strings, ends: Numbers, told: Numbers) -> None:
    """Make records of END, by the numbers `indices` of contexts, of those `rows` that are `new`.

    Their addresses have four bytes, nobody asks for some connections only, and there is room among the texts. `told`
    has room for one.
    """
    for at in range(len(new)):
        row, end = rows[new[at]], ends[indices[new[at]]]
        end.connection = row.number
        size = _endpoint(row.source, row.source_port, told)
        end.client = strings.add_bytes(texts, told, 0, size)
        size = _endpoint(row.destination, row.destination_port, told)
        end.broker = strings.add_bytes(texts, told, 0, size)
        end.client_name = end.broker_name = end.listener = end.client_id = NOTHING
        end.is_client = end.is_broker = 0
        length: Any = np.int64(row.client_id_length)
        if length >= 0:
            end.client_id = strings.add_bytes(texts, row.client_id, 0, length)


@kernel
def _endpoint(address: Numbers, port: Any, told: Numbers) -> int:
    """Write an address with a port; gives how many bytes it takes."""
    at = 0
    for index in range(4):
        at = _decimal(np.int64(address[index]), told, at)
        told[at] = 46 if index < 3 else 58
        at += 1
    return _decimal(np.int64(port), told, at)


@kernel
def _decimal(number: Any, told: Numbers, at: int) -> int:
    digits = 1
    over = number // 10
    while over:
        digits += 1
        over //= 10
    for place in range(at + digits - 1, at - 1, -1):
        told[place] = 48 + number % 10
        number //= 10
    return at + digits
