"""What a run may cost: attempts in flight, bytes and time for answers."""

import asyncio
import time

import pytest

from netdiag.io.network.limits import IN_FLIGHT, Allowance, Gate, Gates


def test_only_a_few_attempts_are_unanswered_at_a_time() -> None:
    most = now = 0

    async def attempt(gate: Gate) -> None:
        nonlocal most, now
        async with gate.attempt():
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.005)
            now -= 1

    async def storm() -> None:
        gate = Gate()
        await asyncio.gather(*(attempt(gate) for _ in range(40)))

    asyncio.run(storm())
    assert most == IN_FLIGHT


@pytest.mark.parametrize("attempts", [8, 80, 400])
def test_a_target_that_never_answers_lets_all_start_soon(attempts: int) -> None:
    started: list[float] = []

    async def attempt(gate: Gate) -> None:
        async with gate.attempt():
            started.append(time.perf_counter())
            await asyncio.sleep(1.5)

    async def storm() -> None:
        gate = Gate()
        await asyncio.gather(*(attempt(gate) for _ in range(attempts)))

    begin = time.perf_counter()
    asyncio.run(storm())
    assert len(started) == attempts
    assert max(started) - begin < 1.4
    # Not all at once, either.
    assert sum(moment - begin < 0.02 for moment in started) <= max(2 * IN_FLIGHT, attempts // 8)


def test_one_that_gives_up_waiting_loses_nothing() -> None:
    async def scene() -> None:
        gate = Gate()
        held = [gate.attempt() for _ in range(IN_FLIGHT)]
        for slot in held:
            await slot.__aenter__()
        waiting = asyncio.create_task(gate.attempt().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        for slot in held:
            await slot.__aexit__(None, None, None)
        async with asyncio.timeout(1):
            await gate.idle()
            for _ in range(2 * IN_FLIGHT):
                async with gate.attempt():
                    pass

    asyncio.run(scene())


def test_each_target_has_its_own_gate() -> None:
    gates = Gates()
    assert gates.to("a") is gates.to("a")
    assert gates.to("a") is not gates.to("b")


def test_small_answers_are_always_read() -> None:
    whole = Allowance()
    whole.spend(60)
    with whole.answer() as share:
        assert share.received(4096)
        assert not share.received(1)


def test_kept_bytes_are_given_back() -> None:
    whole = Allowance()
    with whole.answer() as share:
        assert share.received(10 << 20)
        with whole.answer() as other:
            assert not other.received(10 << 20)
    with whole.answer() as share:
        assert share.received(10 << 20)
