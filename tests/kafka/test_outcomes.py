"""The words of outcomes are part of reports: they must not change by accident."""

from netdiag.kafka.outcomes import EVERYTHING, Answered, FailureKind, Setting, Step


def test_words() -> None:
    assert {kind.value for kind in FailureKind} == {"closed", "tls", "sasl", "not-kafka", "error", "no-answer"}
    assert next(iter(Step)).value == "ApiVersions"
    assert Step.SASL_HANDSHAKE not in EVERYTHING


def test_a_setting_that_was_not_told_is_none() -> None:
    answered = Answered(
        cluster_id=None,
        node_id=None,
        controller_id=-1,
        brokers=(),
        api_versions=(),
        settings=(Setting(name="listeners", value="PLAINTEXT://:9092"),),
        identity_unknown="it was not asked",
    )
    assert answered.setting("listeners") == "PLAINTEXT://:9092"
    assert answered.setting("node.id") is None
