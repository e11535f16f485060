"""How much was taken as seen before is one line."""

from netdiag.render.exchanges import copies_line
from netdiag.traffic.native import Copies


def test_what_was_taken_as_seen_before() -> None:
    assert copies_line(Copies(connections=0, requests=0, like_copies=0)) is None
    assert copies_line(Copies(connections=1, requests=40, like_copies=0)) == (
        "taken as seen before, under other addresses: 1 connection with 40 requests (--all-sightings keeps them)"
    )
    assert copies_line(Copies(connections=2, requests=1, like_copies=1)) == (
        "taken as seen before, under other addresses: 2 connections with 1 request; "
        "1 of them may be a copy or a replay in the file instead (--all-sightings keeps them)"
    )
    both = copies_line(Copies(connections=2, requests=1, like_copies=2))
    assert both is not None
    assert "; each of them may be a copy" in both
