"""netdiag: find out why Kafka in Docker connects but does not work.

The names below are the Python API (docs/python-api.md). Each is loaded when it is first used, so that importing netdiag
takes no time.
"""

# Not that of typing, which takes a while to import.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from netdiag.api import (
        AnalysisReport,
        Captures,
        CheckReport,
        Finding,
        Listener,
        NetdiagError,
        RegistryReport,
        Rows,
        Severity,
        TopologyReport,
        check,
        check_live,
        read_captures,
        read_registry,
        read_topology,
    )

__version__ = "0.1.0"

__all__ = [
    "AnalysisReport",
    "Captures",
    "CheckReport",
    "Finding",
    "Listener",
    "NetdiagError",
    "RegistryReport",
    "Rows",
    "Severity",
    "TopologyReport",
    "__version__",
    "check",
    "check_live",
    "read_captures",
    "read_registry",
    "read_topology",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'netdiag' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module("netdiag.api"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
