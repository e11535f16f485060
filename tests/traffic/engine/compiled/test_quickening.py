"""The programs for whole messages: short, and inside their own steps."""

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled import quickening as quick
from netdiag.traffic.engine.compiled.program import API_VERSIONS, programs
from tests.kafka.protocol.random_values import every_message

REQUEST, RESPONSE = wire.Direction


def _shown(key: int, version: int, direction: wire.Direction) -> list[list[int]]:
    made = programs(("exchanges",))
    begin = int(made.quick_starts[0 if direction is REQUEST else 1, key, version])
    steps = made.quick.reshape(-1, quick.SIZE).tolist()[begin:]
    ends = [number for number, step in enumerate(steps) if step[0] == quick.QUICK_END]
    return [step[:7] for step in steps[: ends[0] + 1]]


def test_fields_that_stand_beside_each_other_are_one_step() -> None:
    version, word, none = do.INT16, do.INT32, quick.NO_NUMBER
    client, *body = _shown(12, 0, REQUEST)
    assert client == [quick.QUICK_TEXT, 0, version, 2, 0, do.CLIENT, 0]
    group, member, end = body
    assert group[:5] == [quick.QUICK_TEXT, 0, version, 2, 0]
    # Over the generation, which no table has without group_events.
    assert member == [quick.QUICK_OVER, 4, version, 2, 0, 0, 0]
    assert end == [quick.QUICK_END, 0, none, 0, 0, 0, 0]
    assert [step[:4] for step in _shown(12, 1, RESPONSE)] == [
        [quick.QUICK_NUMBER, 0, word, 4],
        [quick.QUICK_NUMBER, 0, version, 2],
        [quick.QUICK_END, 0, none, 0],
    ]


def test_every_program_stays_inside_its_steps() -> None:
    jumps = {quick.QUICK_ARRAY: 6, quick.QUICK_AGAIN: 4, quick.QUICK_JUMP_BELOW: 4, quick.QUICK_TAGS: 4}
    for made in (programs(), programs(("exchanges",))):
        steps = made.quick.reshape(-1, quick.SIZE).tolist()
        for step in steps:
            assert 0 <= step[0] <= quick.QUICK_LEAVE
            assert step[1] >= 0
            if step[0] in jumps:
                assert -1 <= step[jumps[step[0]]] < len(steps)
        assert steps[-1][0] == quick.QUICK_END
        count = sum(
            bool(made.quick_starts[int(way is RESPONSE), key, number] >= 0) for key, number, way in every_message()
        )
        assert count > 300


def test_who_has_no_program_for_the_machine_has_none_here() -> None:
    assert quick.quickened([], 0, 0) == []
    assert quick.quickened([do.STRANGE, 0, 0, 0], 0, 0) == []
    made = programs()
    quickly = made.quick_starts >= 0
    # Answers to ApiVersions can be errors of another version, which only Python reads.
    quickly[:, API_VERSIONS] = False
    assert (made.starts[quickly] >= 0).all()
