"""Words about secured listeners."""

from netdiag.kafka.security import SecuritySight, Spoken


def test_the_four_security_protocols_have_the_names_that_kafka_gives_them() -> None:
    first = list(Spoken)[:4]
    assert {spoken.value for spoken in first} == {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}
    assert all(spoken.name == spoken.value for spoken in first)


def test_a_sight_of_nothing_secured_is_only_what_is_spoken() -> None:
    assert SecuritySight(spoken=Spoken.HTTP) == SecuritySight(spoken=Spoken.HTTP, detail="", tls=None, sasl=None)
