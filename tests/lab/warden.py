"""The process that tears a run down when its owner ends, however the owner ends.

Reads its standard input, whose other end only the owner holds: the end of it is the owner's end,
by return, exception, SIGTERM or SIGKILL. So there is one way out, and it needs no cooperation.
"""

from __future__ import annotations

import os
import signal
import sys

from tests.lab.run_record import Record, read_records
from tests.lab.teardown import tear_down


def main(run_id: str) -> int:
    """Wait for the owner's end, then end the run."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while sys.stdin.buffer.read(4096):
        pass
    record = next((one for one in read_records() if one.run_id == run_id), None)
    if isinstance(record, Record):
        tear_down(record, spare=frozenset({os.getpid()}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
