"""What the rows of following depend on besides the captures, as the checkpoint keeps it."""

from typing import Any

from netdiag.errors import NetdiagError
from netdiag.io.follow.step import Work
from netdiag.io.follow.store import Store
from netdiag.traffic.native import ReadOptions

_FILTERS = ("ports", "clients", "brokers")


def settings_of(
    folder: str, options: ReadOptions, classes: int, lateness: float, **bounds: int | None
) -> dict[str, Any]:
    """The settings of following a folder; `bounds` are `since_ns` and `until_ns`."""
    filters = {name: sorted(getattr(options, name)) for name in _FILTERS}
    return {"folder": folder, "classes": classes, "lateness": lateness, **bounds, **filters}


def work_of(store: Store) -> tuple[Work, float]:
    """The work that a checkpoint was begun for, and its lateness."""
    known = store.settings()
    try:
        if known is None:
            raise KeyError("settings")
        options = ReadOptions(
            ports=frozenset(known["ports"]), clients=frozenset(known["clients"]), brokers=frozenset(known["brokers"])
        )
        work = Work(
            folder=known["folder"],
            store=store,
            options=options,
            classes=int(known["classes"]),
            since_ns=known["since_ns"],
            until_ns=known["until_ns"],
        )
        return work, float(known["lateness"])
    except (KeyError, TypeError, ValueError) as error:
        raise NetdiagError("holds no settings", where=str(store.checkpoint)) from error
