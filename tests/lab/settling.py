"""Waiting until a stack's brokers are ready, or until a broken one will not change any more.

Both ask the brokers themselves (readiness); neither sleeps a guessed time and hopes. What does
not come to rest before the deadline is an error that carries the end of the brokers' logs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.lab.containers import Container
from tests.lab.errors import LabError
from tests.lab.listening import listening
from tests.lab.processes import tail
from tests.lab.readiness import Knowledge, NotKafka, ask

_PAUSE = 0.25
_LOG_TAIL = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one broker came to rest: its exit code, or what it knows."""

    exit_code: int | None = None
    knowledge: Knowledge | None = None


class Watch:
    """Looks at the brokers of one stack again and again."""

    def __init__(
        self,
        look: Callable[[], Sequence[Container]],
        read_log: Callable[[str], str],
    ) -> None:
        self._look = look
        self._read_log = read_log
        self._doors: dict[str, tuple[str, int]] = {}

    def until_ready(self, limit: float) -> dict[str, Knowledge]:
        """Every broker answers, knows every other and the controller."""
        deadline = time.monotonic() + limit
        while True:
            brokers = self._brokers()
            dead = [one.service for one in brokers if one.status in ("exited", "dead")]
            if dead:
                raise LabError(f"ended instead of starting: {', '.join(dead)}\n{self._logs(dead)}")
            known = self._ask_all(brokers)
            if brokers and all(_knows(known.get(one.service), brokers) for one in brokers):
                return {service: one for service, one in known.items() if one is not None}
            if time.monotonic() > deadline:
                late = [b.service for b in brokers if not _knows(known.get(b.service), brokers)]
                seen = {name: known.get(name) for name in late}
                raise LabError(f"not ready after {limit:g} s: {seen}\n{self._logs(late)}")
            time.sleep(_PAUSE)

    def until_settled(self, limit: float, still: float) -> dict[str, Outcome]:
        """Every broker has exited or answers, and nothing of that changed for `still` seconds."""
        deadline = time.monotonic() + limit
        last: dict[str, Outcome] = {}
        since = time.monotonic()
        while True:
            now = self._outcomes()
            moment = time.monotonic()
            at_rest = now and all(o.exit_code is not None or o.knowledge for o in now.values())
            if now != last or not at_rest:
                last, since = now, moment
            elif moment - since >= still:
                return now
            if moment > deadline:
                raise LabError(f"not settled after {limit:g} s: {now}\n{self._logs(list(now))}")
            time.sleep(_PAUSE)

    def _outcomes(self) -> dict[str, Outcome]:
        brokers = self._brokers()
        known = self._ask_all(brokers)
        ended = ("exited", "dead", "restarting")
        return {
            one.service: Outcome(exit_code=one.exit_code)
            if one.status in ended
            else Outcome(knowledge=known.get(one.service))
            for one in brokers
        }

    def _brokers(self) -> list[Container]:
        return [one for one in self._look() if one.is_broker]

    def _ask_all(self, brokers: Sequence[Container]) -> Mapping[str, Knowledge | None]:
        running = [one for one in brokers if one.is_running]
        if not running:
            return {}
        with ThreadPoolExecutor(len(running)) as pool:
            return dict(zip((b.service for b in running), pool.map(self._ask, running), strict=True))

    def _ask(self, broker: Container) -> Knowledge | None:
        """Any of its doors that speaks Kafka to clients; the one that did last time first."""
        known = self._doors.get(broker.id)
        doors = [known] if known else listening(broker.pid)
        for door in doors:
            try:
                knowledge = ask(broker.place.netns, *door, timeout=1.5)
            except NotKafka:
                continue
            self._doors[broker.id] = door
            return knowledge
        self._doors.pop(broker.id, None)
        return None

    def _logs(self, services: Sequence[str]) -> str:
        return "\n".join(f"--- {name}\n{tail(self._read_log(name), _LOG_TAIL)}" for name in services)


def _knows(knowledge: Knowledge | None, brokers: Sequence[Container]) -> bool:
    return knowledge is not None and knowledge.has_controller and len(knowledge.node_ids) >= len(brokers)
