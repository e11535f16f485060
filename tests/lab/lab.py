"""The lab as tests use it: one sealed engine, Compose, the client image, brought up together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.cache import cache_root, drop_unused
from tests.lab.compose_v2 import compose_binary
from tests.lab.engine import Engine, engine
from tests.lab.image_set import client_root
from tests.lab.oracles import Oracles
from tests.lab.relay_images import load_relay_images, uses_relays
from tests.lab.releases import OWN
from tests.lab.stack import Stack, Wait, bring_up

# Made again in seconds from what else is in the cache, and half a gigabyte each.
_BULKY = ("client-root", "layers")
_KEPT_DAYS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """A running engine and what is needed to put stacks on it."""

    engine: Engine
    compose: Path
    client_root: Path
    oracles: Oracles

    def up(
        self,
        compose_file: Path,
        *,
        project: str | None = None,
        env: Mapping[str, str] | None = None,
        profiles: Sequence[str] = (),
        override_files: Sequence[Path] = (),
        wait: Wait = "ready",
        limit: float = 150,
        containers: bool = True,
    ) -> AbstractContextManager[Stack]:
        """A compose project for a block; see `stack.bring_up`."""
        if uses_relays(compose_file):
            load_relay_images(self.engine)
        return bring_up(
            self.engine,
            self.compose,
            compose_file,
            project=project,
            env=env,
            profiles=profiles,
            override_files=override_files,
            wait=wait,
            limit=limit,
            containers=containers,
        )


@contextmanager
def start_lab(
    cache: Path | None = None, *, userland_proxy: bool = True, flags: Sequence[str] = (), release: str = OWN
) -> Iterator[Lab]:
    """The whole lab for a block, built first where the cache is empty; see `releases` for the engines there are."""
    root = cache or cache_root()
    drop_unused(root, _BULKY, _KEPT_DAYS)
    compose = compose_binary(root)
    clients = client_root(root)
    with engine(root, userland_proxy=userland_proxy, flags=flags, release=release) as running:
        oracles = Oracles(clients, running.record.run_id)
        try:
            yield Lab(engine=running, compose=compose, client_root=clients, oracles=oracles)
        finally:
            oracles.close()
