"""Conversations with what real brokers sent, byte for byte."""

from pathlib import Path

import pytest

from netdiag.kafka.conversation import (
    Answered,
    Conversation,
    Failed,
    FailureKind,
    sasl_conversation,
)
from netdiag.kafka.questions import SETTINGS
from tests.kafka.dialogue import chunks


def recorded() -> list[tuple[str, ...]]:
    text = Path(__file__).with_name("recorded_answers.txt").read_text(encoding="utf-8")
    return [tuple(line.split()) for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("recording", recorded(), ids=lambda recording: "-".join(recording[:3]))
@pytest.mark.parametrize("sizes", [(), (1,), (7, 300)])
def test_what_real_brokers_answered(recording: tuple[str, ...], sizes: tuple[int, ...]) -> None:
    _, listener, asked, *reads = recording
    conversation = sasl_conversation() if asked == "sasl" else Conversation(expected_node_id=int(asked))
    conversation.start()
    for read in reads:
        if read == "END":
            conversation.closed()
        else:
            for chunk in chunks(bytes.fromhex(read), sizes):
                conversation.receive(chunk)
        conversation.bytes_to_send()
    outcome = conversation.outcome
    match listener:
        case "PLAINTEXT":
            assert isinstance(outcome, Answered)
            assert (outcome.node_id, outcome.controller_id, outcome.cluster_id) == (7, 7, "A" * 22)
            assert [broker.node_id for broker in outcome.brokers] == [7]
            assert {setting.name for setting in outcome.settings} == set(SETTINGS)
        case "SASL_PLAINTEXT":
            assert isinstance(outcome, Failed)
            assert outcome.kind is FailureKind.SASL
            assert outcome.mechanisms == (("PLAIN",) if asked == "sasl" else ())
        case "SSL":
            assert isinstance(outcome, Failed)
            assert outcome.kind is FailureKind.TLS
        case _:
            assert isinstance(outcome, Failed)
            assert (outcome.kind, outcome.speaks) == (FailureKind.NOT_KAFKA, "KRaft controller")
