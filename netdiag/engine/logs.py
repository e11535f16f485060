"""The log of a container as text that is safe to look at and to show."""

import re

LONGEST_LINE = 1000

# CSI and OSC sequences, then every other control character but the tab.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def log_lines(data: bytes) -> tuple[str, ...]:
    """The lines of a log, without escape sequences, control characters and empty lines; long ones are cut."""
    lines = (_clean(line) for line in data.decode("utf-8", errors="replace").split("\n"))
    return tuple(line for line in lines if line)


def _clean(line: str) -> str:
    visible = _CONTROLS.sub("", _ESCAPES.sub("", line[: 4 * LONGEST_LINE])).rstrip()
    return visible if len(visible) <= LONGEST_LINE else visible[: LONGEST_LINE - 1] + "…"
