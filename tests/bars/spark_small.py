"""Bar: `netdiag analyze` of a small capture against a PySpark job that reads nothing, in turns, medians.

CPU seconds are those of all processes. Beside the bar: the same against an empty job in a session of netdiag's own
settings, which starts faster than plain PySpark.
"""

import statistics
import sys
from pathlib import Path

from tests.bars import trees
from tests.bars.measuring import report
from tests.house.tree import ROOT

ROUNDS = 3
MOST = 0.8
CAPTURES = (
    ROOT / "compose" / "scenarios" / "S08-single-listener-localhost" / "client.pcapng",
    ROOT / "tests" / "fuzz" / "captures" / "kafka3.9.1-transactions-librdkafka-aiokafka-broker-1.pcap",
)
OURS = """
from netdiag.io.spark.session import spark_session
with spark_session("local[2]") as spark:
    assert len(spark.range(1000).selectExpr("id % 7 AS part").groupBy("part").count().collect()) == 7
    assert spark.sparkContext.parallelize([1, 2], 2).map(lambda each: each + 1).sum() == 5
"""


def main() -> int:
    """0 when every capture was within the bar."""
    commands: dict[str, tuple[str | Path, ...]] = {
        "an empty PySpark job": (sys.executable, "-m", "tests.bench.empty_job"),
        "an empty job in our session": (sys.executable, "-c", OURS),
    }
    for capture in CAPTURES:
        commands[capture.name] = (sys.executable, "-m", "netdiag", "analyze", capture, "--master", "local[2]")
    runs: dict[str, list[trees.Tree]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            runs[name].append(trees.run(command))
    wall = {name: statistics.median(each.wall for each in found) for name, found in runs.items()}
    cpu = {name: statistics.median(each.cpu for each in found) for name, found in runs.items()}
    for name in commands:
        report(name, f"{wall[name]:.1f} s, {cpu[name]:.1f} s of CPU")
    good = all(each.status in (0, 1) for found in runs.values() for each in found)
    for capture in CAPTURES:
        for empty in list(commands)[:2]:
            ratios = wall[capture.name] / wall[empty], cpu[capture.name] / cpu[empty]
            report(f"{capture.name} / {empty}", "{:.2f} wall, {:.2f} CPU".format(*ratios))
        good = good and wall[capture.name] <= MOST * wall["an empty PySpark job"]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
