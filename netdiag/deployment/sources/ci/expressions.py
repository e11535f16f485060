"""Expressions of GitHub's workflows, `${{ matrix.kafka }}`, as far as the file itself gives them a value.

Source: GitHub's documentation of contexts and expressions. What no value is known for is unknown, never empty.
"""

import re
from collections.abc import Iterator, Mapping

from netdiag.compose.positions import Text, concatenated, substituted
from netdiag.patterns import regex

_EXPRESSION = regex(r"\$\{\{(?P<inner>.{0,2000}?)\}\}", re.DOTALL)
_NAMES = regex(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*|\[(?:'[^']{1,100}'|\d{1,6})\])*")
_INDEX = regex(r"\[(?:'([^']*)'|(\d+))\]")
_LITERAL = regex(r"'((?:[^']|'')*)'|(-?\d{1,20}(?:\.\d{1,20})?)")
_OPENING = "${{"

Known = Mapping[str, Text | str]


def evaluated(text: Text, known: Known) -> Text | None:
    """The text with the value of each expression in its place; None if one is not known.

    `known` leads from `matrix.kafka`, in lower case, to a value.
    """
    if _OPENING not in text.value:
        return text
    parts: list[Text] = []
    done = 0
    for match in _EXPRESSION.finditer(text.value):
        value = _value(match["inner"].strip(), known)
        if value is None:
            return None
        if done < match.start():
            parts.append(text.slice(done, match.start()))
        place = text.span_of(match.start(), match.end())
        parts.append(substituted(place, value, match["inner"].strip(), text.source))
        done = match.end()
    if _OPENING in text.value[done:]:
        return None
    if done < len(text):
        parts.append(text.slice(done, len(text)))
    return concatenated(parts) if parts else text


def without_unknown(text: Text, known: Known) -> Text:
    """The text with nothing in the place of each expression whose value is not known, as a variable that is not set."""
    if _OPENING not in text.value:
        return text
    parts: list[Text] = []
    done = 0
    for match in _EXPRESSION.finditer(text.value):
        if done < match.start():
            parts.append(text.slice(done, match.start()))
        value = _value(match["inner"].strip(), known)
        place = text.span_of(match.start(), match.end())
        parts.append(substituted(place, "" if value is None else value, match["inner"].strip(), text.source))
        done = match.end()
    if done < len(text):
        parts.append(text.slice(done, len(text)))
    return concatenated(parts) if parts else text


def named(text: str, context: str) -> Iterator[str]:
    """The keys of a context that the expressions of a text name: `kafka` of `${{ matrix.kafka }}`."""
    for match in _EXPRESSION.finditer(text):
        for names in _NAMES.finditer(match["inner"]):
            words = _INDEX.sub(r".\1\2", names[0]).lower().split(".")
            if words[0] == context and len(words) > 1:
                yield words[1]


def _value(inner: str, known: Known) -> Text | str | None:
    literal = _LITERAL.fullmatch(inner)
    if literal is not None:
        return literal[2] if literal[1] is None else literal[1].replace("''", "'")
    if _NAMES.fullmatch(inner) is None:
        return None
    return known.get(_INDEX.sub(r".\1\2", inner).lower())
