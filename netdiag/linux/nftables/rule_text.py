"""A rule of nf_tables in the words of nft."""

from collections.abc import Sequence

from netdiag.linux.nftables.datatypes import Name
from netdiag.linux.ruleset import ElementSet, Expression


def native_text(
    expressions: Sequence[Expression], *, family: str, sets: Sequence[ElementSet], comment: str = "", names: Name = str
) -> str:
    """As `nft list ruleset` prints it."""
    return " ".join(one.name for one in expressions)
