"""A rule of iptables in the words of iptables-save, without table and counters."""

from collections.abc import Mapping, Sequence

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Expression
from netdiag.linux.xtables.match_text import match_text
from netdiag.linux.xtables.target_text import target_text

_CONDITIONS = (("source", "-s"), ("destination", "-d"), ("in", "-i"), ("out", "-o"), ("protocol", "-p"))
# XT_CT_NOTRACK and XT_CT_NOTRACK_ALIAS
_NOTRACK = 3
_VERDICTS = {"accept": "ACCEPT", "drop": "DROP", "return": "RETURN", "queue": "QUEUE"}


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


def _entry(fields: Mapping[str, Detail]) -> str:
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


def _verdict(fields: Mapping[str, Detail]) -> str:
    word, chain = str(fields.get("verdict", "")), str(fields.get("chain", ""))
    if word == "goto":
        return f"-g {chain}"
    return f"-j {chain if word == 'jump' else _VERDICTS.get(word, f'[{word}]')}"


def _bytes(expression: Expression) -> str:
    return f"[revision {expression.fields.get('revision')}: {expression.fields.get('hex')}]"
