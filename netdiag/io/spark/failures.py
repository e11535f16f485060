"""What a job of Spark failed of, in one line: the reason out of the stacks of Java and Python around it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from netdiag.errors import NetdiagError
from netdiag.io.spark.session import reason_of

_SAME_PYTHON = (
    "set PYSPARK_PYTHON to a Python of the same version as this one, with pyarrow and numpy, on every executor"
)
_LOST = (
    "Spark gives a task up after four attempts; give executors more memory, or say --partitions with a higher number"
)
_TOO_LARGE = (
    "a kernel kills what takes too much memory: `dmesg` says so; give it more, or say --partitions with a higher number"
)


def _ours(match: re.Match[str]) -> NetdiagError:
    return NetdiagError(match[1].strip())


def _version(match: re.Match[str]) -> NetdiagError:
    return NetdiagError(f"the executors have Python {match[1]}, netdiag runs on {match[2]} here", hint=_SAME_PYTHON)


def _library(match: re.Match[str]) -> NetdiagError:
    library = match[1].partition(".")[0]
    return NetdiagError(
        f"the Python of the executors has no '{library}'", hint=f"install {library} there, or {_SAME_PYTHON}"
    )


def _interpreter(match: re.Match[str]) -> NetdiagError:
    return NetdiagError(f"the executors have no '{match[1]}'", hint=_SAME_PYTHON)


def _lost(match: re.Match[str]) -> NetdiagError:
    return NetdiagError(f"an executor was lost again and again: {match[1].strip()}", hint=_LOST)


def _crashed(match: re.Match[str]) -> NetdiagError:
    return NetdiagError("a Python worker of Spark was killed, or crashed", hint=_TOO_LARGE)


def _no_start(match: re.Match[str]) -> NetdiagError:
    said = [line.strip() for line in (match["said"] or "").splitlines() if line.strip()]
    return NetdiagError(": ".join(("the Python of the executors does not start", *said[-1:])), hint=_SAME_PYTHON)


# The first that is found in what Spark says is the reason; what is ours is told as we said it.
_REASONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], NetdiagError]], ...] = (
    (re.compile(r"^\s*(?:\w+\.)*netdiag\.errors\.\w+: (.+)$", re.MULTILINE), _ours),
    (re.compile(r"different version: ([\d.]+\d) than that in driver: ([\d.]+\d)"), _version),
    (re.compile(r"ModuleNotFoundError: No module named '([^']+)'"), _library),
    (re.compile(r"Cannot run program \"([^\"]+)\""), _interpreter),
    (re.compile(r"^Error from python worker:\n(?P<said>(?: [^\n]*\n)*)", re.MULTILINE), _no_start),
    (re.compile(r"reading the port number from pyspark\.daemon's stdout(?P<said>)"), _no_start),
    (re.compile(r"Python worker exited unexpectedly \(crashed\)"), _crashed),
    (re.compile(r"ExecutorLostFailure \(([^\n]+)"), _lost),
)


@contextmanager
def told() -> Iterator[None]:
    """What Spark raises in this block becomes a NetdiagError with the reason."""
    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise failure(error) from error


def failure(error: BaseException) -> NetdiagError:
    """The reason of what Spark raised."""
    text = str(error)
    for pattern, said in _REASONS:
        if match := pattern.search(text):
            return said(match)
    return NetdiagError(f"a job of Spark failed: {reason_of(error)}")
