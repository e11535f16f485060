"""Where a single probe stands: the word of the command line, and the namespace to enter for it."""

import os
from collections.abc import Mapping
from pathlib import Path

from netdiag.engine.container import Container
from netdiag.errors import InputError, NetdiagError
from netdiag.io.engine.address import find_engine
from netdiag.io.engine.docker_sdk import connect
from netdiag.io.engine.same_kernel import OtherKernel, locate
from netdiag.io.kernel.netns import same_namespace_as
from netdiag.linux.netns import NamedNamespace, NamespaceId, OwnNamespace, ProcessNamespace
from netdiag.values import dataclass

HOST = "host"
_SHORTEST_ID = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeVantage:
    """The place in the words of other commands ("host", "container:kafka-1"), and the way in."""

    place: str
    entrance: NamespaceId


def probe_vantage(
    word: str, *, host: str | None = None, environment: Mapping[str, str] | None = None, home: Path | None = None
) -> ProbeVantage:
    """`host`, `container:NAME` (or the bare name), `netns:NAME`, `pid:N`.

    The engine is asked where a container is meant, and where `host` names an engine: then its docker host is stood on,
    else the namespace that netdiag runs in. InputError where nothing has that name.
    """
    kind, colon, name = word.partition(":")
    if colon and kind == "netns":
        return ProbeVantage(place=word, entrance=NamedNamespace(name=name))
    if colon and kind == "pid":
        return ProbeVantage(place=word, entrance=ProcessNamespace(pid=_number(word, name)))
    if word == HOST and host is None:
        return ProbeVantage(place=word, entrance=OwnNamespace())
    address = find_engine(host, os.environ if environment is None else environment, home or Path.home())
    with connect(address) as engine:
        containers = engine.containers()
    kernel = locate(address, containers)
    if word == HOST:
        if isinstance(kernel, OtherKernel) or kernel.docker_host is None or same_namespace_as(kernel.docker_host):
            return ProbeVantage(place=word, entrance=OwnNamespace())
        return ProbeVantage(place=word, entrance=ProcessNamespace(pid=kernel.docker_host))
    meant = _meant(containers, name if colon and kind == "container" else word)
    if isinstance(kernel, OtherKernel):
        raise NetdiagError(f"its network cannot be entered: {kernel.because}", where=meant.name)
    if not meant.state.has_process:
        raise InputError("the container is not running", where=meant.name, hint=f"start it: docker start {meant.name}")
    entrance = ProcessNamespace(pid=meant.state.pid, container_id=meant.id)
    return ProbeVantage(place=f"container:{meant.name}", entrance=entrance)


def _number(word: str, name: str) -> int:
    if not (name.isascii() and name.isdecimal() and len(name) <= 10 and int(name) > 0):
        raise InputError("not the number of a process", where=word, hint="write pid:1234")
    return int(name)


def _meant(containers: tuple[Container, ...], name: str) -> Container:
    bare = name.removeprefix("/")
    found = [c for c in containers if bare in (c.name, c.id)]
    found = found or [c for c in containers if len(bare) >= _SHORTEST_ID and c.id.startswith(bare)]
    found = found or [c for c in containers if bare and c.service == bare]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(sorted(c.name for c in found))
        raise InputError(f"several containers have that name or ID: {names}", where=name)
    hint = "host, a container of `docker ps`, netns:NAME or pid:N"
    raise InputError("no container has this name", where=name, hint=hint)
