"""A store says when it is full, and grows without forgetting."""

from netdiag.traffic.engine.compiled.store import (
    LACKING,
    LACKING_SIZE,
    MESSAGES,
    TEXTS,
    as_large,
    grown,
    has_room,
    is_mostly_kept,
    new_facts,
    store,
)


def test_a_store_is_full_before_its_end() -> None:
    full = store(1024, 1 << 12)
    numbers = []
    while has_room(full):
        numbers.append(new_facts(full))
    assert numbers == list(range(len(numbers)))
    assert 256 < len(numbers) < 1024
    full.facts[3]["size"] = 77
    more = grown(full)
    assert has_room(more)
    assert more.facts[3]["size"] == 77
    assert new_facts(more) == len(numbers)
    more.facts_words[3, 0] = 5
    assert more.facts[3]["start_time"] == 5


def test_what_was_lacking_is_there_then() -> None:
    small = store(1024, 1 << 12)
    small.counts[LACKING], small.counts[LACKING_SIZE] = TEXTS, 100_000
    more = grown(small)
    assert len(more.strings.data) > 300_000
    assert len(more.strings.bounds) > 100_000
    assert more.counts[LACKING_SIZE] == 0


def test_a_store_of_which_much_is_kept_grows() -> None:
    kept = store(1024, 1 << 12)
    kept.counts[MESSAGES] = 200
    assert not is_mostly_kept(kept)
    kept.counts[MESSAGES] = 300
    assert is_mostly_kept(kept)
    more = grown(kept)
    assert 1200 <= len(more.facts) < 10_000
    assert not is_mostly_kept(more)
    # Of many that wait the place is what counts: twice what they take, and little more.
    large = store(1 << 15, 1 << 12)
    large.counts[MESSAGES] = 32_000
    assert is_mostly_kept(large)
    more = grown(large)
    assert 64_000 <= len(more.facts) < 80_000
    assert not is_mostly_kept(more)


def test_another_store_is_as_large_and_empty() -> None:
    large, small = store(2048, 1 << 13), store(1024, 1 << 13)
    large.counts[MESSAGES] = small.counts[MESSAGES] = 9
    other = as_large(large, small)
    assert [len(array) for array in other[1:8]] == [len(array) for array in large[1:8]]
    assert not other.counts.any()
    assert other.raw is small.raw
    assert other.facts is not large.facts
    assert other.strings is large.strings
    assert as_large(small, large).facts is large.facts
