"""The closed set of reasons."""

import re

from netdiag.deployment.model.contact import Mechanism


def test_the_words_are_kebab_case_and_unlike() -> None:
    words = [mechanism.value for mechanism in Mechanism]
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", word) for word in words)
    assert all(mechanism.value == mechanism.name.lower().replace("_", "-") for mechanism in Mechanism)
    assert len(set(words)) == len(Mechanism.__members__)
