"""`--live` of the commands that read captures: what runs gives addresses their names."""

import os
from pathlib import Path

from netdiag.cli.console import Console
from netdiag.cli.live import needs_extra
from netdiag.deployment.addresses import listening, names_of_addresses
from netdiag.deployment.member import Deployment
from netdiag.traffic.engine.addresses import endpoint_of_text
from netdiag.traffic.places import Places


def places_that_run(host: str | None, project: str | None, console: Console) -> Places:
    """The names of what runs; EngineError when the engine cannot be asked."""
    needs_extra()
    from netdiag.io.live import look

    seen = look(host=host, project=project, environment=os.environ, home=Path.home())
    console.detail(f"engine {seen.version.release} at {seen.address.url}: {len(seen.containers)} containers")
    return places_of(seen.deployment)


def places_of(deployment: Deployment) -> Places:
    """The names of a deployment, as the engine of captures takes them."""
    ports = {endpoint_of_text(each.address, each.port): (each.broker, each.listener) for each in listening(deployment)}
    return Places(hosts=names_of_addresses(deployment), ports=ports)
