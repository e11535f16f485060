"""The options of `check-listeners` that go with --live."""

from typing import Annotated

import typer

from netdiag.cli.live import LiveSettings
from netdiag.cli.watching import SHORTEST
from netdiag.kafka.certificate_faults import WARN_DAYS

Live = Annotated[
    bool, typer.Option("--live", help="Check what runs: the project of FILE, or everything on the engine.")
]
Container = Annotated[
    list[str] | None, typer.Option("--container", metavar="NAME", help="With --live: this container; repeatable.")
]
Host = Annotated[
    str | None, typer.Option("--host", metavar="URL", help="With --live: the engine; default as docker finds it.")
]
Netns = Annotated[
    list[str] | None,
    typer.Option("--netns", metavar="NAME", help="With --live: look from this namespace, too; repeatable."),
]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=600, help="With --live: for one step.")
]
RequireAll = Annotated[
    bool, typer.Option("--require-all", help="With --live: exit with 3 if a vantage could not be taken.")
]
Every = Annotated[
    float | None,
    typer.Option(
        "--every",
        metavar="SECONDS",
        min=SHORTEST,
        max=86400,
        help="With --live --watch, also --watch=SECONDS: how often.",
    ),
]
ClientProperties = Annotated[
    str | None,
    typer.Option(
        "--client-properties",
        metavar="FILE",
        help="With --live: connect as the client of this file, with TLS and SASL.",
    ),
]
WarnDays = Annotated[
    int | None,
    typer.Option(
        "--warn-days",
        metavar="N",
        min=0,
        max=36500,
        help="With --live: tell of certificates that end within N days.",
        show_default=str(WARN_DAYS),
    ),
]


def live_settings(
    live: bool,
    where: tuple[list[str] | None, str | None, list[str] | None, bool],
    how: tuple[float, str | None, int | None],
) -> LiveSettings | None:
    """What the options say; None without --live.

    `where` are --container, --host, --netns and --require-all, `how` --timeout, --client-properties and --warn-days.
    """
    container, host, netns, require_all = where
    timeout, client_properties, warn_days = how
    if not live:
        if any(where):
            raise typer.BadParameter("--container, --host, --netns and --require-all go with --live")
        if client_properties is not None or warn_days is not None:
            raise typer.BadParameter("--client-properties and --warn-days go with --live")
        return None
    return LiveSettings(
        containers=tuple(container or ()),
        host=host,
        netns=tuple(netns or ()),
        timeout=timeout,
        client_properties=client_properties,
        warn_days=WARN_DAYS if warn_days is None else warn_days,
        require_all=require_all,
    )
