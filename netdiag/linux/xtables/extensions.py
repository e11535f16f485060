"""An extension of iptables as an expression of ours, whatever its blob holds.

Foreign bytes: what is shorter than its struct, or not known, becomes an expression that is not understood.
"""

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Expression
from netdiag.linux.xtables.matches import decode_match
from netdiag.linux.xtables.structs import BadBlob, Blob
from netdiag.linux.xtables.targets import decode_target

_SHOWN = 64


def decode_extension(name: str, revision: int, info: bytes, *, family: str, target: bool) -> Expression:
    """A match or target; `family` is the table's ("ip6" has addresses of 16 bytes)."""
    blob = Blob(info, 6 if family == "ip6" else 4)
    try:
        fields = decode_target(name, revision, blob) if target else decode_match(name, revision, blob)
    except BadBlob:
        fields = None
    if fields is None:
        unknown: dict[str, Detail] = {"revision": revision, "hex": info[:_SHOWN].hex()}
        if target:
            unknown["target"] = True
        return Expression(name=f"xt:{name}", fields=unknown, understood=False)
    if target:
        fields["target"] = True
    return Expression(name=f"xt:{name}", fields=fields)
