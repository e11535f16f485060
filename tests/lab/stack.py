"""One compose project on the lab's engine: up for a block, gone with its volumes afterwards.

`Watch` waits until its brokers are ready, or until a broken one will not change any more. It asks the brokers
themselves (readiness) and sleeps no guessed time. What does not come to rest before the deadline is an error that
carries the end of the brokers' logs.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.lab.containers import Container, list_containers
from tests.lab.engine import Engine
from tests.lab.errors import LabError
from tests.lab.listening import listening
from tests.lab.processes import run, tail
from tests.lab.readiness import Knowledge, NotKafka, ask

_PAUSE = 0.25
_LOG_TAIL = 1500
# "stopped" is Podman's word for one that has ended and is not cleaned up yet.
_ENDED = ("exited", "dead", "stopped")


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
            dead = [one.service for one in brokers if one.status in _ENDED]
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
        return {
            one.service: Outcome(exit_code=one.exit_code)
            if one.status in (*_ENDED, "restarting")
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


# On client containers and networks that stand beside a project: compose does not know them.
HELPER_LABEL = "org.netdiag.lab.beside"
Wait = Literal["ready", "settled", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A running compose project."""

    engine: Engine
    project: str
    compose: Path
    files: tuple[Path, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    profiles: tuple[str, ...] = ()

    def containers(self) -> list[Container]:
        """Its containers now, stopped ones included."""
        return list_containers(self.engine, self.project)

    def state(self, service: str) -> Container:
        """The container of a service (of its first replica) as it is now."""
        for container in self.containers():
            if container.service == service:
                return container
        raise LabError(f"no container of service {service!r} in project {self.project!r}")

    def container(self, service: str) -> str:
        """The container id of a service."""
        return self.state(service).id

    def brokers(self) -> list[Container]:
        """The containers that are Kafka brokers, by service name."""
        return [one for one in self.containers() if one.is_broker]

    def logs(self, service: str) -> str:
        """Everything the container has printed, both streams in order."""
        argv = ["docker", "logs", self.container(service)]
        done = run(argv, env=self.engine.environment)
        return done.stdout + done.stderr

    def wait_ready(self, limit: float = 150) -> dict[str, Knowledge]:
        """Wait until every broker knows all the others; an error with their logs otherwise."""
        return self._watch().until_ready(limit)

    def wait_settled(self, limit: float = 150, still: float = 8) -> dict[str, Outcome]:
        """For broken stacks: wait until each broker has exited or answers the same for `still` s."""
        return self._watch().until_settled(limit, still)

    def run_compose(self, *words: str, check: bool = True, timeout: float = 300) -> str:
        """What `docker compose WORDS` prints for this project."""
        argv: list[str | Path] = [self.compose, "--project-name", self.project]
        for path in self.files:
            argv += ["--file", path]
        for profile in self.profiles:
            argv += ["--profile", profile]
        done = run(
            [*argv, *words],
            check=check,
            timeout=timeout,
            env={**self.engine.environment, **self.environment},
            cwd=self.files[0].parent,
        )
        return done.stdout + done.stderr

    def remove_helpers(self) -> None:
        """Remove the client containers, else their network could not be taken down."""
        chosen = ("--filter", f"label={HELPER_LABEL}={self.project}")
        containers = self.engine.docker("ps", "-aq", *chosen).split()
        if containers:
            self.engine.docker("rm", "-f", "-v", *containers)
        networks = self.engine.docker("network", "ls", "-q", *chosen).split()
        if networks:
            self.engine.docker("network", "rm", *networks)

    def take_down(self) -> None:
        """Remove its containers, networks and volumes; an error that names a container which stays."""
        # Compose leaves what belongs to profiles that are not named here.
        self.run_compose("--profile", "*", "down", "-v", "--remove-orphans", "-t", "0", timeout=120)
        if left := self.containers():
            raise LabError(f"left by compose down: {', '.join(one.service for one in left)}")

    def _watch(self) -> Watch:
        return Watch(self.containers, self.logs)


@contextmanager
def bring_up(
    engine: Engine,
    compose: Path,
    compose_file: Path,
    *,
    project: str | None = None,
    env: Mapping[str, str] | None = None,
    profiles: Sequence[str] = (),
    override_files: Sequence[Path] = (),
    wait: Wait = "ready",
    limit: float = 150,
    containers: bool = True,
) -> Iterator[Stack]:
    """The project of `compose_file`, waited for as asked; `down -v` at the end of the block.

    An error where the engine makes no container, or any container though none is expected.
    """
    stack = Stack(
        engine=engine,
        project=project or f"lab{secrets.token_hex(3)}",
        compose=compose,
        files=(compose_file.resolve(), *(path.resolve() for path in override_files)),
        environment=dict(env or {}),
        profiles=tuple(profiles),
    )
    try:
        # A broken stack may fail here already (a dependency that never gets healthy).
        said = stack.run_compose("up", "-d", "--pull", "never", check=wait == "ready")
        if bool(stack.containers()) is not containers:
            raise LabError(f"compose made {'no' if containers else 'a'} container: {said}")
        if wait == "ready":
            stack.wait_ready(limit)
        elif wait == "settled":
            stack.wait_settled(limit)
        yield stack
    finally:
        stack.remove_helpers()
        stack.take_down()
