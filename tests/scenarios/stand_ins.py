"""Clients of a scenario's file (web UIs, registries, jobs) as the lab starts them: containers that only stay.

No image of theirs can be had in the lab. What counts is where they stand, which is what the file says of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ruamel.yaml import YAML

from tests.lab.image_set import APACHE_3, APACHE_4, CLIENT, CP_KAFKA, CP_ZOOKEEPER
from tests.lab.relay_images import RELAY_IMAGES

_OWN_IMAGES = (APACHE_3, APACHE_4, CP_KAFKA, CP_ZOOKEEPER)
_STAYS = {"image": CLIENT, "entrypoint": ["sleep", "infinity"], "command": [], "healthcheck": {"disable": True}}


def stand_ins(compose_file: Path, folder: Path) -> tuple[Path, ...]:
    """A file to lay over `compose_file`, made in `folder`; none where all of its services are brokers."""
    services = YAML(typ="safe", pure=True).load(compose_file)["services"]
    names = [name for name, service in services.items() if _is_client(service)]
    if not names:
        return ()
    over = folder / "stand-ins.json"
    over.write_text(json.dumps({"services": dict.fromkeys(names, _STAYS)}), encoding="utf-8")
    return (over,)


def _is_client(service: dict[str, object]) -> bool:
    image = re.sub(r"\$\{\w+:-(.*)\}", r"\1", str(service["image"]))
    return image not in RELAY_IMAGES and (image not in _OWN_IMAGES or "command" in service)
