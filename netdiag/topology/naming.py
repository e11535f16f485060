"""How the things of a topology are called in one line: "veth0 of host", "container web"."""

from collections.abc import Iterable

from netdiag.engine.container import Container
from netdiag.topology.graph import Place
from netdiag.topology.inventory import LinkId
from netdiag.topology.known import Known


class Naming:
    """The names of places, devices and containers of one topology."""

    def __init__(self, known: Known, places: Iterable[Place]) -> None:
        self._known = known
        self._places = {place.netns: place.name for place in places}

    def place(self, netns: int) -> str:
        """The name of a place."""
        return self._places.get(netns, f"net:[{netns}]")

    def device(self, at: LinkId) -> str:
        """A device with where it is."""
        link = self._known.links.get(at)
        name = f"device {at.ifindex}" if link is None else link.ifname
        return f"{name} of {self.place(at.netns)}"

    def container(self, container: Container) -> str:
        """A container."""
        return f"container {container.name or container.short_id}"
