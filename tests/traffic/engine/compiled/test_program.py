"""Which messages the machine reads itself, and what their programs look like."""

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.program import is_fast, programs, shown
from tests.kafka.protocol.random_values import every_message

REQUEST, RESPONSE = wire.Direction


def test_what_there_is_most_of_is_read_by_the_machine() -> None:
    made = programs()
    for key in (0, 1, 2, 8, 9, 12, 22, 24, 26, 28):
        for version in wire.api_versions(key):
            assert is_fast(made, key, version, REQUEST), (key, version)
            assert is_fast(made, key, version, RESPONSE), (key, version)


def test_what_tells_more_is_kept() -> None:
    made = programs()
    for key, direction in ((3, RESPONSE), (10, REQUEST), (10, RESPONSE), (11, REQUEST), (14, RESPONSE), (18, RESPONSE)):
        assert not any(is_fast(made, key, version, direction) for version in wire.api_versions(key)), key


def test_a_small_program_by_name() -> None:
    steps = shown(programs(), 12, 0, REQUEST)
    assert steps[0][1:3] == ("NEED", 2)
    assert steps[-1][1] == "END"
    assert shown(programs(), 3, 1, RESPONSE) == []


def test_every_program_stays_inside_its_steps() -> None:
    made = programs()
    jumps = {do.ARRAY: 3, do.TAGS: 3, do.AGAIN: 1, do.JUMP: 1, do.JUMP_BELOW: 1, do.IF_TAG: 2}
    size = len(made.code) // do.SIZE
    for step in made.code.reshape(-1, do.SIZE).tolist():
        assert 0 <= step[0] <= do.JUMP
        if step[0] in jumps:
            assert 0 <= step[jumps[step[0]]] < size
    assert sum(is_fast(made, *each) for each in every_message()) > 300
