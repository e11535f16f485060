"""Real connections, many side by side: what connect(2) says, and whether the other end closes at once."""

from __future__ import annotations

import errno
import select
import socket
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from netdiag.io.kernel.netns import Namespace

# Three questions for a neighbour, a second apart, and a little; a packet that was lost is sent again after 1 s and 3 s.
PATIENCE = 4.2
# How long an accepted connection is watched for its end: a docker-proxy that finds nobody closes it.
AFTER = 0.5
MOST_AT_ONCE = 4
_OFF = "127.255.255.255"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """From a namespace to an address."""

    namespace: Namespace
    address: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`errno` by name, "" for a connection; `closed` that it ended at once."""

    errno: str
    closed: bool
    seconds: float


@dataclass(slots=True)
class _Open:
    index: int
    channel: socket.socket
    began: float
    connected: float | None = None


def attempt_all(attempts: Sequence[Attempt], *, watch: bool = True) -> list[Result]:
    """All results, in order; at most four attempts at one target at a time."""
    results: dict[int, Result] = {}
    waiting: dict[tuple[str, int], deque[int]] = defaultdict(deque)
    for index, attempt in enumerate(attempts):
        waiting[attempt.address, attempt.port].append(index)
    under_way: dict[int, _Open] = {}
    poll = select.poll()
    while any(waiting.values()) or under_way:
        _begin(attempts, waiting, under_way, poll, results)
        for descriptor, _ in poll.poll(20):
            _ready(under_way, descriptor, poll, results, watch=watch)
        now = time.monotonic()
        for descriptor, one in list(under_way.items()):
            if one.connected is None and now - one.began > PATIENCE:
                _end(under_way, descriptor, poll, results, "ETIMEDOUT")
            elif one.connected is not None and now - one.connected > AFTER:
                _end(under_way, descriptor, poll, results, "")
    return [results[index] for index in range(len(attempts))]


def _begin(
    attempts: Sequence[Attempt],
    waiting: dict[tuple[str, int], deque[int]],
    under_way: dict[int, _Open],
    poll: select.poll,
    results: dict[int, Result],
) -> None:
    busy: dict[tuple[str, int], int] = defaultdict(int)
    for one in under_way.values():
        busy[attempts[one.index].address, attempts[one.index].port] += 1
    for target, queue in waiting.items():
        while queue and busy[target] < MOST_AT_ONCE:
            index = queue.popleft()
            attempt = attempts[index]
            family = socket.AF_INET6 if ":" in attempt.address else socket.AF_INET
            channel = attempt.namespace.socket(family, socket.SOCK_STREAM)
            one = _Open(index=index, channel=channel, began=time.monotonic())
            number = channel.connect_ex((attempt.address, attempt.port))
            if number not in (0, errno.EINPROGRESS):
                results[index] = Result(errno=errno.errorcode[number], closed=False, seconds=0.0)
                channel.close()
                continue
            busy[target] += 1
            under_way[channel.fileno()] = one
            poll.register(channel, select.POLLOUT)


def _ready(
    under_way: dict[int, _Open], descriptor: int, poll: select.poll, results: dict[int, Result], *, watch: bool
) -> None:
    one = under_way.get(descriptor)
    if one is None:
        return
    if one.connected is None:
        number = one.channel.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number or not watch:
            _end(under_way, descriptor, poll, results, errno.errorcode[number] if number else "")
            return
        one.connected = time.monotonic()
        poll.modify(one.channel, select.POLLIN)
        return
    try:
        closed = not one.channel.recv(1)
    except OSError:
        closed = True
    _end(under_way, descriptor, poll, results, "", closed=closed)


def _end(
    under_way: dict[int, _Open],
    descriptor: int,
    poll: select.poll,
    results: dict[int, Result],
    said: str,
    *,
    closed: bool = False,
) -> None:
    one = under_way.pop(descriptor)
    poll.unregister(descriptor)
    one.channel.close()
    results[one.index] = Result(errno=said, closed=closed, seconds=time.monotonic() - one.began)
