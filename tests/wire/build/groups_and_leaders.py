"""Scenes of what should stay where it is, and of errors that are answered with the same request again."""

from tests.wire.build.scenes import Case, Scene
from tests.wire.build.talk import batch


def storm(scene: Scene) -> None:
    """Bad: a member does not poll, is out, and comes back, twice. Good: three members start one after the other."""
    group = f"{scene.name}-{'good' if scene.good else 'bad'}"
    steady = scene.dial(0, last=7, suffix="-steady")
    steady.metadata(0.5, scene.itself)
    steady.join(1, group, "m1", 1, "m1", ["m1"])
    slow = scene.dial(1, last=9)
    if scene.good:
        slow.join(3, group, "m2", 2, "m1", [])
        steady.join(4, group, "m1", 2, "m1", ["m1", "m2"])
        third = scene.dial(5, last=8, suffix="-third")
        for talk, member in ((third, "m3"), (steady, "m1"), (slow, "m2")):
            talk.join(6, group, member, 3, "m1", ["m1", "m2", "m3"])
        return
    generation = 1
    for number in range(3):
        at, member = 5 + 60 * number, f"m{2 + number}"
        slow.join(at, group, member, generation + 1, "m1", [])
        steady.join(at + 1, group, "m1", generation + 1, "m1", ["m1", member])
        slow.leave(at + 40, group, member, "consumer poll timeout has expired.")
        steady.join(at + 41, group, "m1", generation + 2, "m1", ["m1"])
        generation += 2


def coordinator(scene: Scene) -> None:
    """Bad: the coordinator moves six times. Good: once."""
    talk = scene.dial(0)
    nodes = (1, 1, 1, 2, 2, 2, 2) if scene.good else (1, 2, 1, 2, 1, 2, 1)
    for number, node in enumerate(nodes):
        talk.coordinator(1 + 10 * number, f"{scene.name}-group", node, scene.address(1 + node), 9092)
        talk.ask(2 + 10 * number, 12, {"group_id": f"{scene.name}-group"}, {"error_code": 0})


def leader(scene: Scene) -> None:
    """Bad: a partition has seven leaders in a minute. Good: two."""
    talk = scene.dial(0)
    brokers = {1: (scene.address(2), 9092), 2: (scene.address(3), 9092)}
    for number in range(8):
        node = 1 + (number % 2 if not scene.good else number >= 4)
        epoch = number if not scene.good else int(number >= 4)
        talk.metadata(1 + 8 * number, brokers, topic=scene.name, leaders=(node,), epoch=epoch)
        talk.produce(2 + 8 * number, batch(), scene.name)


def stale_leader(scene: Scene) -> None:
    """Bad: the broker is never the leader. Good: for a moment."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself)
    for number in range(30):
        talk.produce(1 + number, batch(), error=0 if scene.good and number > 2 else 6)


def unknown_topic(scene: Scene) -> None:
    """Bad: the topic never comes to be. Good: it does."""
    talk = scene.dial(0)
    for number in range(20):
        talk.metadata(1 + number / 2, scene.itself, topic="ordres", error=0 if scene.good and number > 1 else 3)


def authentication(scene: Scene) -> None:
    """Bad: no attempt succeeds. Good: the second one does."""
    for number in range(5):
        talk = scene.dial(number)
        talk.authenticate(number + 0.1, error=0 if scene.good and number else 58)
        if scene.good and number:
            continue
        talk.tcp.close(number + 0.2, side=1)


def denied(scene: Scene) -> None:
    """Bad: every Fetch is denied. Good: the first."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself)
    for number in range(10):
        talk.fetch(1 + number, error=0 if scene.good and number else 29)


def errors(scene: Scene) -> None:
    """Bad: there is no coordinator, for ever. Good: for two seconds."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself)
    for number in range(40):
        fails = not (scene.good and number > 4)
        group = f"{scene.name}-group"
        node, host, port = (-1, "", -1) if fails else (1, scene.address(2), 9092)
        talk.coordinator(1 + number / 2, group, node, host, port, error=15 if fails else 0)
    if scene.good:
        talk.ask(22, 12, {"group_id": f"{scene.name}-group"}, {"error_code": 0})


CASES = (
    Case(rule="wire-rebalance-storm", play=storm),
    Case(rule="wire-coordinator-flapping", play=coordinator),
    Case(rule="wire-leader-flapping", play=leader),
    Case(rule="wire-stale-leader-loop", play=stale_leader),
    Case(rule="wire-unknown-topic-loop", play=unknown_topic),
    Case(rule="wire-authentication-failing", play=authentication),
    Case(rule="wire-access-denied", play=denied),
    Case(rule="wire-error-loop", play=errors),
)
