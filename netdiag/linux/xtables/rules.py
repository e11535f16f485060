"""A rule of iptables: its extensions (matches and targets) out of bytes, and its words as iptables-save prints them.

An extension that is shorter than its struct, or not known, becomes an expression that is not understood.
"""

from collections.abc import Sequence

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Expression
from netdiag.linux.xtables.matches import decode_match, match_text
from netdiag.linux.xtables.structs import BadBlob, Blob, Fields
from netdiag.linux.xtables.targets import decode_target, target_text

_SHOWN = 64
_CONDITIONS = (("source", "-s"), ("destination", "-d"), ("in", "-i"), ("out", "-o"), ("protocol", "-p"))
# XT_CT_NOTRACK and XT_CT_NOTRACK_ALIAS
_NOTRACK = 3
_VERDICTS = {"accept": "ACCEPT", "drop": "DROP", "return": "RETURN", "queue": "QUEUE"}


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


def entry_text(chain: str, expressions: Sequence[Expression], *, family: str) -> str:
    """The rule; what is not understood is named with its bytes, as far as they are known."""
    words = [f"-A {chain}"]
    for expression in expressions:
        words += [_text(expression, family)]
    return " ".join(word for word in words if word)


def _text(expression: Expression, family: str) -> str:
    name = expression.name
    if name == "ip":
        return _entry(expression.fields)
    if name == "verdict":
        return _verdict(expression.fields)
    if name == "counter":
        return ""
    if not name.startswith("xt:"):
        return f"[{name}]"
    short = name.removeprefix("xt:")
    if short == "CT" and expression.fields.get("flags") == _NOTRACK:
        return "-j NOTRACK"
    if expression.fields.get("target"):
        options = target_text(short, expression.fields, family) if expression.understood else _bytes(expression)
        return f"-j {short} {options}".rstrip()
    if short == "conntrack" and expression.fields.get("alias"):
        short = "state"
    options = match_text(short, expression.fields, family) if expression.understood else _bytes(expression)
    return f"-m {short} {options}".rstrip()


def _entry(fields: Fields) -> str:
    words = []
    negated = fields.get("not")
    names = negated if isinstance(negated, list) else []
    for name, option in _CONDITIONS:
        if name in fields:
            words += ["!"] if name in names else []
            words.append(f"{option} {fields[name]}")
    if fields.get("fragment"):
        words.append("! -f" if "fragment" in names else "-f")
    return " ".join(words)


def _verdict(fields: Fields) -> str:
    word, chain = str(fields.get("verdict", "")), str(fields.get("chain", ""))
    if word == "goto":
        return f"-g {chain}"
    return f"-j {chain if word == 'jump' else _VERDICTS.get(word, f'[{word}]')}"


def _bytes(expression: Expression) -> str:
    return f"[revision {expression.fields.get('revision')}: {expression.fields.get('hex')}]"
