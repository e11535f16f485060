"""What the rows are made of: the arrays that messages were read into, and what their numbers of texts stand for."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled.layout import NOTHING

Numbers = npt.NDArray[Any]


class Strings(Protocol):
    """Texts by number: bytes behind one another, and where each ends; the second of `counts` tells numberings apart."""

    @property
    def data(self) -> Numbers: ...

    @property
    def bounds(self) -> Numbers: ...

    @property
    def counts(self) -> Numbers: ...


class Store(Protocol):
    """The arrays of `layout` by name."""

    @property
    def facts(self) -> Numbers: ...

    @property
    def topics(self) -> Numbers: ...

    @property
    def partitions(self) -> Numbers: ...

    @property
    def batches(self) -> Numbers: ...

    @property
    def forgotten(self) -> Numbers: ...

    @property
    def endpoints(self) -> Numbers: ...

    @property
    def raw(self) -> Numbers: ...

    @property
    def strings(self) -> Strings: ...

    @property
    def ids(self) -> Strings: ...


class Arenas(NamedTuple):
    """For kernels; `texts` and `ids`: the number that a row has for the text or topic id of number n.

    `ids` are kept apart: a topic id is turned into texts row by row, as what it is called is told in the capture.
    """

    facts: Numbers
    topics: Numbers
    partitions: Numbers
    batches: Numbers
    forgotten: Numbers
    texts: Numbers
    ids: Numbers


class _Nothing(NamedTuple):
    data: Numbers
    bounds: Numbers
    counts: Numbers


def no_strings() -> Strings:
    """No texts."""
    return _Nothing(np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(2, np.int64))


def text_of(strings: Strings, number: int) -> str | None:
    """A text; None for no number."""
    return None if number <= NOTHING else bytes_of(strings, number).decode()


def bytes_of(strings: Strings, number: int) -> bytes:
    """What has this number."""
    return strings.data[strings.bounds[number] : strings.bounds[number + 1]].tobytes()
