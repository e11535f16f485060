"""Plans and catalogues survive JSON, and what a batch has done shows in the catalogue."""

import random

import pytest
from hypothesis import settings

from netdiag.io.follow.batch import Catalogue, Known, Plan, catalogue_of, plan_of
from tests.each import each
from tests.io.follow.folders import Following, cut, expected, in_memory
from tests.native.conversations import mixed
from tests.native.files import pcap_file

FILE = Known(number=3, name="a.pcap", first_time=5, inode=7, begin="d4c3", taken=100)


def test_json_gives_the_same_back() -> None:
    plan = Plan(batch=2, files=(FILE,), until=9, forgotten=(1,), notes=("a",), left=4)
    assert plan_of(plan.text()) == plan
    catalogue = Catalogue(batch=1, next_number=2, files=(Known(number=1, name="b", first_time=1, inode=1, begin=""),))
    after = catalogue.after(plan)
    assert after == Catalogue(batch=2, next_number=4, until=9, files=(FILE,))
    assert catalogue_of(after.text()) == after


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", '{"files": [3]}', '{"files": [], "batch": 1, "odd": 2}'])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        plan_of(text)


LARGE = mixed()
SMALL = [packet for packet in LARGE if len(packet.data) < 1000]


@each("seed", range(40 * settings().max_examples // 100))
def test_any_cut_looked_at_at_any_time_gives_the_rows_of_all_at_once(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    tmp_path = tmp_path_factory.mktemp("cut")
    chance = random.Random(seed)
    packets = LARGE if seed % 10 == 0 else SMALL
    size = len(pcap_file(packets))
    classes = chance.choice((1, 1, 2))
    work, memory = in_memory(tmp_path, classes)
    lateness, most = chance.choice((0.06, 0.1, 2.0)), chance.choice((size // 15, size // 3, 64 << 20))
    following = Following(work, lateness=lateness, most=most)
    for number, some in enumerate(cut(packets, chance.randint(1, 6), chance)):
        path, data = tmp_path / f"cut-{number:05}.pcap", pcap_file(some)
        written = 0
        while written < len(data):
            step = len(data) if chance.random() < 0.4 else chance.randint(1 + len(data) // 4, len(data))
            with path.open("ab") as stream:
                stream.write(data[written : written + step])
            written += step
            if chance.random() < 0.6:
                following.batch(twice=chance.random() < 0.2)
    following.all()
    assert memory.tables() == expected(tmp_path, classes)
