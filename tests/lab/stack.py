"""One compose project on the lab's engine: up for a block, gone with its volumes afterwards."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.lab.containers import Container, list_containers
from tests.lab.engine import Engine
from tests.lab.errors import LabError
from tests.lab.processes import run
from tests.lab.readiness import Knowledge
from tests.lab.settling import Outcome, Watch

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
        stack.run_compose("down", "-v", "--remove-orphans", "-t", "0", timeout=120)
