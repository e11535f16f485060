"""The last lines that containers wrote, of all brokers of an engine or of one container."""

import os
from collections.abc import Mapping
from pathlib import Path

from netdiag.deployment.sources.engine import runs_kafka
from netdiag.errors import InputError
from netdiag.io.docker_engine import connect
from netdiag.io.engine_address import find_engine


def read_logs(host: str | None, *, container: str | None = None) -> Mapping[str, tuple[str, ...]]:
    """Lines by container, oldest first; InputError where nothing has that name."""
    with connect(find_engine(host, os.environ, Path.home())) as engine:
        everything = engine.containers()
        chosen = [one for one in everything if container in (None, one.name)]
        if container and not chosen:
            raise InputError("no container has that name", where=container, hint="list them with docker ps")
        return {one.name: engine.log(one) for one in chosen if container or runs_kafka(one)}
