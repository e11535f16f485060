"""How observed rules speak: lists of places and names that stay short."""

from collections.abc import Iterable

_SHOWN = 3


def listed(names: Iterable[str], *, shown: int = _SHOWN) -> str:
    """`a`, `a and b`, `a, b and 3 more`; each once, in the order given."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) <= shown:
        return " and ".join(filter(None, (", ".join(distinct[:-1]), *distinct[-1:])))
    return f"{', '.join(distinct[: shown - 1])} and {len(distinct) - shown + 1} more"
