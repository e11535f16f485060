"""Programs for the machine: for each message that it reads itself what its fields are and what they tell.

`bodies.plan` decides the same for the source of the reader in plain Python; this follows it field by field, down to
which fields are read together. What a store has no place for (leaders, members, subscriptions ...) makes a message one
that is kept for that reader. The programs are made of our own table and `roles` alone.
"""

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.kafka import protocol as wire
from netdiag.kafka.protocol import Direction
from netdiag.traffic.engine.bodies.walkers import WALKED
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.assembling import Code, TooMuch
from netdiag.traffic.engine.compiled.plans import ReadPlan, Unfit, WalkPlan
from netdiag.traffic.engine.compiled.quickening import SIZE as QUICK_SIZE
from netdiag.traffic.engine.compiled.quickening import quickened
from netdiag.traffic.tables import NAMES

MOST_KEYS, MOST_VERSIONS = 128, 32
KEPT_RAW = NOT_QUICK = -1
_DIGEST = 16
API_VERSIONS, REFUSED = 18, 35
_UNFIT = frozenset({10, 11, API_VERSIONS})
"""FindCoordinator, JoinGroup, ApiVersions: what they tell depends on more than one field.

Of ApiVersions that is the error: a broker that does not know the version answers in version 0. All other answers are
read at once.
"""


class Programs(NamedTuple):
    """`starts`: by direction (0 request, 1 response), api key and version where in `code` a message's program begins.

    Below 0: the message is kept. `strange`: where the programs of messages begin that nobody knows. `quick` and
    `quick_starts`: the same for `quick.read_whole`, below 0 where there is none.
    """

    code: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    strange: npt.NDArray[np.int32]
    quick: npt.NDArray[np.int32]
    quick_starts: npt.NDArray[np.int32]


def programs(tables: Iterable[str] = NAMES) -> Programs:
    """The programs of all messages, for the tables that are wanted."""
    return _programs(frozenset(tables))


def packed(made: Programs) -> bytes:
    """Programs as bytes, for `unpacked`."""
    sizes = np.array([array.size for array in made], np.int64)
    content = sizes.tobytes() + b"".join(array.tobytes() for array in made)
    return blake2b(content, digest_size=_DIGEST).digest() + content


def unpacked(data: bytes) -> Programs:
    """The programs that were packed; ValueError where these bytes are not what was."""
    content = data[_DIGEST:]
    if len(content) < 8 * len(Programs._fields) or blake2b(content, digest_size=_DIGEST).digest() != data[:_DIGEST]:
        raise ValueError("these are no programs")
    sizes = np.frombuffer(content, np.int64, len(Programs._fields))
    numbers = np.frombuffer(content, np.int32, offset=sizes.nbytes).copy()
    arrays = np.split(numbers, np.cumsum(sizes)[:-1])
    shape = (2, MOST_KEYS, MOST_VERSIONS)
    made = Programs(*arrays)
    return made._replace(starts=made.starts.reshape(shape), quick_starts=made.quick_starts.reshape(shape))


def is_fast(made: Programs, api_key: int, api_version: int, direction: Direction) -> bool:
    """Whether the machine reads a message itself."""
    return bool(made.starts[0 if direction is Direction.REQUEST else 1, api_key, api_version] >= 0)


@cache
def _programs(wanted: frozenset[str]) -> Programs:
    code: list[int] = []
    quick: list[int] = []
    strange = []
    for number in range(2):
        strange.append(len(code) // do.SIZE)
        prologue = Code(len(code) // do.SIZE)
        if number == 0:
            _client(prologue)
        prologue.emit(do.STRANGE)
        code += prologue.finished()
    index = np.empty((2, MOST_KEYS, MOST_VERSIONS), np.int32)
    index[0], index[1] = strange
    quick_index = np.full((2, MOST_KEYS, MOST_VERSIONS), NOT_QUICK, np.int32)
    for api_key in wire.api_keys():
        for version in wire.api_versions(api_key):
            for number, direction in enumerate((Direction.REQUEST, Direction.RESPONSE)):
                steps = _program(api_key, version, direction, wanted, len(code) // do.SIZE)
                made = [] if api_key in _UNFIT else steps
                index[number, api_key, version] = len(code) // do.SIZE if made else KEPT_RAW
                one = quickened(steps, len(code) // do.SIZE, len(quick) // QUICK_SIZE)
                if one:
                    quick_index[number, api_key, version] = len(quick) // QUICK_SIZE
                code += made
                quick += one
    arrays = (np.array(numbers, np.int32) for numbers in (code, index, strange, quick, quick_index))
    return Programs(*arrays)


def _program(api_key: int, version: int, direction: Direction, wanted: frozenset[str], start: int) -> list[int]:
    """The program of one message, which begins at step `start`; nothing where it is kept."""
    if api_key in _UNFIT and api_key != API_VERSIONS:
        return []
    layout = wire.layout(api_key, version, direction)
    code = Code(start)
    header = wire.header_version(api_key, version, direction)
    if direction is Direction.REQUEST and header > 0:
        _client(code)
    if header >= (2 if direction is Direction.REQUEST else 1):
        _header_tags(code)
    body = code.emit(do.BODY, -1)
    try:
        plan = ReadPlan(code, api_key, direction, wanted)
        plan.message(layout)
        code.put(body, 2, int(plan.has_records))
        if (api_key, direction) in WALKED:
            code.put(body, 1, code.here())
            WalkPlan(code, api_key, direction, wanted).message(layout)
    except (Unfit, TooMuch):
        return []
    return code.finished()


def _client(code: Code) -> None:
    code.fixed(do.INT16, do.LENGTH)
    code.emit(do.TEXT, 0, do.CLIENT)


def _header_tags(code: Code) -> None:
    code.varint(0)
    tags = code.emit(do.TAGS)
    with code.rounds():
        code.tag()
        code.emit(do.OVER_TAG)
    code.put(tags, 3, code.here())


def shown(made: Programs, api_key: int, api_version: int, direction: Direction) -> list[tuple[Any, ...]]:
    """The steps of a message's program, by name, for whoever looks for a fault."""
    names = [name for name, number in vars(do).items() if isinstance(number, int) and name != "SIZE"]
    at = int(made.starts[0 if direction is Direction.REQUEST else 1, api_key, api_version])
    steps = []
    while at >= 0:
        step, *operands = made.code[at * do.SIZE : (at + 1) * do.SIZE].tolist()
        steps.append((at, names[step], *operands))
        if step == do.END:
            return steps
        at += 1
    return steps
