"""The release of a broker, guessed from what it offers; real brokers' answers tell what is right."""

import pytest

from netdiag.kafka.conversation import Answered, Conversation
from netdiag.kafka.outcomes import ApiVersion
from netdiag.kafka.release_guess import release_guess
from tests.kafka.test_conversation_recorded import recorded

_RECORDED = [recording for recording in recorded() if recording[1] == "PLAINTEXT"]


@pytest.mark.parametrize("recording", _RECORDED, ids=lambda recording: "-".join(recording[:3]))
def test_releases_of_recorded_brokers(recording: tuple[str, ...]) -> None:
    release, _, asked, *reads = recording
    conversation = Conversation(expected_node_id=int(asked))
    conversation.start()
    for read in reads:
        conversation.receive(bytes.fromhex(read))
        conversation.bytes_to_send()
    assert isinstance(conversation.outcome, Answered)
    assert release_guess(conversation.outcome.api_versions) == ".".join(release.split(".")[:2])


def offer(**newest: int) -> tuple[ApiVersion, ...]:
    keys = {"fetch": 1, "metadata": 3, "unheard_of": 999}
    return tuple(ApiVersion(api_key=keys[name], min_version=0, max_version=most) for name, most in newest.items())


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (offer(fetch=11, metadata=9), "2.3 to 2.6"),
        (offer(fetch=14, metadata=12), "before 3.9"),
        (offer(fetch=17, metadata=12), "3.9"),
        (offer(fetch=17, metadata=13), "4.0"),
        (offer(fetch=99), "after 4.4"),
        (offer(fetch=17, unheard_of=0), "after 4.4"),
        (offer(metadata=12), None),
        ((), None),
    ],
)
def test_releases_by_what_is_offered(offered: tuple[ApiVersion, ...], expected: str | None) -> None:
    assert release_guess(offered) == expected
