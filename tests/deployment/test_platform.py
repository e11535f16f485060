"""Releases and the engines that filter alike."""

import pytest

from netdiag.deployment.model.platform import Generation, generation_of


@pytest.mark.parametrize(
    ("release", "generation"),
    [
        ("20.10.24+dfsg1", Generation.V20),
        ("27.5.1", Generation.V20),
        ("28.5.2", Generation.V28),
        ("29.7.2", Generation.V29),
        ("31.0.0-rc.1", Generation.V29),
        ("dev", None),
        ("", None),
    ],
)
def test_a_release_tells_how_the_engine_filters(release: str, generation: Generation | None) -> None:
    assert generation_of(release) is generation
