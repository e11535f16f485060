"""Plans and catalogues survive JSON, and what a batch has done shows in the catalogue."""

import pytest

from netdiag.io.follow.plans import Catalogue, Known, Plan, catalogue_of, plan_of

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
