"""Machines are taken and given back, and more are made without disturbing those that work."""

from netdiag.traffic.engine.compiled import machines as pool


def test_machines_are_taken_until_there_are_none() -> None:
    few = pool.machines(3)
    taken = [pool.take(few) for _ in range(4)]
    assert sorted(taken) == [-1, 0, 1, 2]
    few.state[1, pool.STATUS] = pool.READING
    pool.give_back(few, 1)
    assert few.state[1, pool.STATUS] == pool.IDLE
    assert pool.take(few) == 1


def test_more_of_them() -> None:
    few = pool.machines(2)
    busy = [pool.take(few), pool.take(few)]
    few.state[busy[0], pool.PC] = 9
    many = pool.more(few)
    assert many.state[busy[0], pool.PC] == 9
    assert {pool.take(many), pool.take(many)} == {2, 3}
    assert pool.take(many) == -1
