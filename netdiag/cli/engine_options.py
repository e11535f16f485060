"""The options that say what engine a deployment is meant for, or runs on."""

from enum import StrEnum
from typing import Annotated

import typer

from netdiag.deployment.platform import Firewall, HostKind, Stated, generation_of


class OnOff(StrEnum):
    """A switch of the engine."""

    ON = "on"
    OFF = "off"


PlatformOption = Annotated[
    HostKind | None, typer.Option("--platform", help="What the engine runs on.", show_default="linux, or as it says")
]
EngineOption = Annotated[
    str | None, typer.Option("--engine", metavar="RELEASE", help="The release of the engine: 20.10, 28, 29.7.2.")
]
UserlandProxy = Annotated[
    OnOff | None, typer.Option("--userland-proxy", help="Whether the engine runs docker-proxy.", show_default="on")
]
FirewallOption = Annotated[
    Firewall | None, typer.Option("--firewall", help="What the engine writes its packet filter rules with.")
]


def stated(platform: HostKind | None, engine: str | None, proxy: OnOff | None, firewall: Firewall | None) -> Stated:
    """What the options say; a usage error where the release is none."""
    generation = None if engine is None else generation_of(engine)
    if engine is not None and generation is None:
        raise typer.BadParameter(f'"{engine}" is no release of an engine')
    on = None if proxy is None else proxy is OnOff.ON
    return Stated(kind=platform, generation=generation, userland_proxy=on, firewall=firewall)
