"""Bar: a bare Debian 12 (tests/bare_root.py) with the README's prerequisites and nothing else: all of `make test`.

Needs root. `python -m tests.bars.bare_machine [SUITE]`, default bookworm.
"""

import sys
import time

from tests.bare_root import PREREQUISITES, SUITE, BareRoot, bare_root
from tests.bars.measuring import report
from tests.lab.errors import LabError


def main(arguments: list[str]) -> int:
    """0 when `make demo` passed in the bare root, twice, and all of `make test` after it."""
    suite = arguments[0] if arguments else SUITE
    try:
        with bare_root(suite) as root:
            python = root.said("python3", "--version")
            report("bare machine", f"{suite} with {' '.join(PREREQUISITES)}, {python}")
            # all of them, whatever the first says: each has its time
            worst = max(
                _timed(root, "make demo, first time", "make", "demo"),
                _timed(root, "make demo, again", "make", "demo"),
                _timed(root, "make test", "make", "test"),
            )
            notes = root.clone / ".cache" / "not-run.txt"
            not_run = sorted(set(notes.read_text().splitlines())) if notes.exists() else []
            report("could not run there", "; ".join(not_run) or "nothing")
            return worst
    except LabError as error:
        print(f"no bare root: {error}")
        return 1


def _timed(root: BareRoot, name: str, *words: str) -> int:
    began = time.monotonic()
    status = root.run(*words)
    report(name, round(time.monotonic() - began, 1), "s" if status == 0 else f"s, exit {status}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
