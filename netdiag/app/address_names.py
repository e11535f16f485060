"""What addresses in captures are called: the names of what runs, or of a deployment.

Most captures are read without these names, and a deployment takes as long to import as the reader of captures.
"""

import os
from pathlib import Path

from netdiag.app.progress import Listener
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.prediction.listener_access import listening_addresses, names_by_address
from netdiag.traffic.native import AddressNames


def live_names(host: str | None, project: str | None, listener: Listener) -> AddressNames:
    """The names of what runs; EngineError when the engine cannot be asked."""
    from netdiag.io.extras import require_live

    require_live()
    from netdiag.io.engine.live_deployment import read_live

    seen = read_live(host=host, project=project, environment=os.environ, home=Path.home())
    listener.detail(f"engine {seen.release} at {seen.address.url}: {len(seen.containers)} containers")
    return address_names(seen.deployment)


def address_names(deployment: Deployment) -> AddressNames:
    """The names of a deployment, as the tables write addresses."""
    endpoints = {
        f"[{each.address}]:{each.port}" if ":" in each.address else f"{each.address}:{each.port}": (
            each.broker,
            each.listener,
        )
        for each in listening_addresses(deployment)
    }
    return AddressNames(hosts=names_by_address(deployment), endpoints=endpoints)
