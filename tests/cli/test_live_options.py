"""What the options of --live say, and that they go with it."""

import pytest
import typer

from netdiag.cli.live import LiveSettings
from netdiag.cli.live_options import live_settings

NOWHERE = (None, None, None, False)


def test_what_is_asked_for() -> None:
    where = (["kafka"], "unix:///x", ["lan"], True)
    assert live_settings(True, where, (2.0, "client.properties", 7)) == LiveSettings(
        containers=("kafka",),
        host="unix:///x",
        netns=("lan",),
        timeout=2.0,
        client_properties="client.properties",
        warn_days=7,
        require_all=True,
    )
    assert live_settings(True, NOWHERE, (4.0, None, None)) == LiveSettings()
    assert live_settings(False, NOWHERE, (4.0, None, None)) is None


@pytest.mark.parametrize(
    ("where", "properties", "days"),
    [
        ((["kafka"], None, None, False), None, None),
        ((None, "unix:///x", None, False), None, None),
        ((None, None, None, True), None, None),
        (NOWHERE, "client.properties", None),
        (NOWHERE, None, 0),
    ],
)
def test_without_live_they_mean_nothing(
    where: tuple[list[str] | None, str | None, list[str] | None, bool], properties: str | None, days: int | None
) -> None:
    with pytest.raises(typer.BadParameter, match="go with --live"):
        live_settings(False, where, (4.0, properties, days))
