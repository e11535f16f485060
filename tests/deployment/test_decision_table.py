"""The table of docs/reachability.md against the model: every row, engine and proxy."""

import re
from itertools import product

from netdiag.deployment.model.deployment import Generation, Platform
from netdiag.deployment.model.verdict import Mechanism
from tests.deployment.decision_rows import ROWS, answer
from tests.each import each
from tests.house.tree import ROOT

_PAGE = (ROOT / "docs" / "reachability.md").read_text(encoding="utf-8")
_LINE = re.compile(
    r"^\| ([nd]?\d+[a-e]?) \| [^|]+ \| [^|]+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.M
)
TABLE = {key: (tuple(words), mechanisms) for key, *words, mechanisms in _LINE.findall(_PAGE)}
_GENERATIONS = (*Generation, None)
_CASES = list(product(ROWS, range(len(_GENERATIONS)), (True, False)))


def test_the_page_and_the_model_have_the_same_rows() -> None:
    assert list(TABLE) == list(ROWS)
    assert {re.sub(r"[a-e]$", "", key) for key in ROWS if key[0].isdigit()} == {str(n) for n in range(1, 43)}
    assert len(_CASES) >= 42 * 3 * 2


@each(("key", "column", "proxy"), _CASES)
def test_row(key: str, column: int, proxy: bool) -> None:
    words, mechanisms = TABLE[key]
    with_proxy, _, without = words[column].partition(" / ")
    expected = with_proxy if proxy else without or with_proxy
    word, mechanism = answer(ROWS[key], Platform(generation=_GENERATIONS[column], userland_proxy=proxy))
    assert word == expected
    assert not mechanism or f"`{mechanism}`" in mechanisms.split(", ")


@each("key", ROWS)
def test_every_mechanism_of_a_row_occurs(key: str) -> None:
    found = {
        mechanism
        for generation, proxy in product(_GENERATIONS, (True, False))
        if (mechanism := answer(ROWS[key], Platform(generation=generation, userland_proxy=proxy))[1])
    }
    assert found == set(re.findall(r"`([a-z0-9-]+)`", TABLE[key][1]))
    assert found <= {mechanism.value for mechanism in Mechanism}


@each("key", ROWS)
def test_the_proxy_that_nobody_has_spoken_of_is_the_engine_s_default(key: str) -> None:
    assert answer(ROWS[key], Platform()) == answer(ROWS[key], Platform(userland_proxy=True))
