"""What is told is plain: nothing of the values that it was made of."""

from dataclasses import asdict

from tests.render.told import PLAYBOOK, RUN, SYMPTOM


def plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(plain, value))
    return isinstance(value, str | int | float | bool)


def test_it_is_texts_and_numbers() -> None:
    for told in (PLAYBOOK, RUN, SYMPTOM):
        assert plain(asdict(told))
