"""Whether the libraries of an extra are there, before anything is begun that needs them."""

from importlib.util import find_spec

from netdiag.distribution import LIBRARIES
from netdiag.errors import cannot_import


def require_live(what: str = "--live") -> None:
    """MissingExtra instead of an import error where the engine and its containers cannot be reached.

    Some of the libraries are needed on some ways only, and not loaded before.
    """
    for library in LIBRARIES["live"]:
        if find_spec(library) is None:
            raise cannot_import(what, ModuleNotFoundError(name=library), extra="live")
    try:
        import netdiag.io.engine.live_deployment
        import netdiag.io.network.observation  # noqa: F401
    except ImportError as error:
        raise cannot_import(what, error, extra="live") from error
