"""`python -m tests.fuzz.captures [--count N] [--seed N] [--keep FOLDER]`: damaged captures, one for each seed.

Exit 1 on a complaint, or when reading them took more memory than promised.
"""

import argparse
import resource
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.bars.measuring import report
from tests.fuzz.captures.mutations import damaged, originals, pcap
from tests.fuzz.captures.oracle import invented, judged

MEMORY_LIMIT = 1 << 30
WARM = 100
# What all behind the first hundred may add to the memory of this process, MiB.
MEMORY = 64


def main(arguments: Sequence[str]) -> int:
    """0 when no capture gave a complaint."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.captures")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--keep", type=Path, help="a folder for what gives a complaint")
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    whole = {name: judged(pcap(capture)) for name, capture in originals().items()}
    before = 0
    complaints: Counter[str] = Counter()
    slowest, bytes_read, captures, exchanges = 0.0, 0, 0, 0
    for number in range(options.count):
        if number <= WARM:
            before = _peak()
        seed = options.seed + number
        one = damaged(seed)
        verdict = judged(one.data)
        slowest = max(slowest, verdict.seconds)
        bytes_read += len(one.data)
        captures += verdict.is_capture
        exchanges += verdict.exchanges
        for complaint in (*verdict.complaints, *invented(one, verdict, whole[one.name])):
            complaints[complaint[:60]] += 1
            print(f"{seed}: {one.name}, {', '.join(one.ways)}: {complaint}", flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{seed}.pcap").write_bytes(one.data)
    grown = (_peak() - before) / 1024
    report("damaged captures read", options.count)
    report("of these still recognised as captures", captures)
    report("bytes, each in a packet, a header or a loss", bytes_read)
    report("exchanges found in them", exchanges)
    report("slowest", round(slowest, 2), "s of CPU")
    report("memory above that after the first hundred", round(grown), "MiB")
    report("complaints", sum(complaints.values()))
    return 1 if complaints or grown > MEMORY else 0


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
