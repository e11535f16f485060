"""`--live` of the commands that read captures: what runs gives addresses their names."""

import os
from pathlib import Path

from netdiag.cli.console import Console
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.prediction.listener_access import listening_addresses, names_by_address
from netdiag.io.extras import require_live
from netdiag.traffic.native import AddressNames


def places_that_run(host: str | None, project: str | None, console: Console) -> AddressNames:
    """The names of what runs; EngineError when the engine cannot be asked."""
    require_live()
    from netdiag.io.live import look

    seen = look(host=host, project=project, environment=os.environ, home=Path.home())
    console.detail(f"engine {seen.version.release} at {seen.address.url}: {len(seen.containers)} containers")
    return places_of(seen.deployment)


def places_of(deployment: Deployment) -> AddressNames:
    """The names of a deployment, as the engine of captures takes them."""
    endpoints = {
        _endpoint(each.address, each.port): (each.broker, each.listener) for each in listening_addresses(deployment)
    }
    return AddressNames(hosts=names_by_address(deployment), endpoints=endpoints)


def _endpoint(address: str, port: int) -> str:
    """As the tables write it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
