"""Whose fault an error is, and where."""

from netdiag.kafka.protocol import errors


def test_fault() -> None:
    assert issubclass(errors.DecodeError, errors.RemoteProtocolError)
    assert issubclass(errors.FrameError, errors.RemoteProtocolError)
    assert issubclass(errors.EncodeError, errors.LocalProtocolError)
    assert issubclass(errors.UnknownMessage, errors.LocalProtocolError)
    assert not issubclass(errors.RemoteProtocolError, errors.LocalProtocolError)


def test_the_path_is_built_from_the_inside() -> None:
    error = errors.DecodeError("too long", 17)
    error.steps += ["host", "[3]", "brokers"]
    assert error.path == "brokers[3].host"
    assert str(error) == "brokers[3].host: too long (at byte 17)"
