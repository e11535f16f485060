"""Which Kafka release a broker seems to be, from the versions of the requests that it offers.

It is the oldest release of the message table that knows all of them. Releases before the table are told by the newest
Fetch that they offer, which grew with almost every release (`FetchRequest.json` of each release branch). Other brokers
that speak the protocol offer what they like: the answer is a guess, and said to be one.
"""

from collections.abc import Iterable

from netdiag.kafka.outcomes import ApiVersion
from netdiag.kafka.protocol import api_keys, release_versions, releases

_FETCH = 1
_OLDER = {
    5: "0.11",
    6: "1.0",
    7: "1.1",
    8: "2.0",
    10: "2.1 or 2.2",
    11: "2.3 to 2.6",
    12: "2.7 to 3.0",
    13: "3.1 to 3.4",
    15: "3.5 or 3.6",
    16: "3.7 or 3.8",
}


def release_guess(offered: Iterable[ApiVersion]) -> str | None:
    """In words, like "3.9" or "2.3 to 2.6"; None where the offer tells nothing."""
    newest = {api.api_key: api.max_version for api in offered}
    if _FETCH not in newest:
        return None
    first = releases()[0]
    if newest[_FETCH] < release_versions(_FETCH)[first].stop - 1:
        return _OLDER.get(newest[_FETCH], f"before {_short(first)}")
    fitting = (release for release in releases() if all(_knows(release, *api) for api in newest.items()))
    return next((_short(release) for release in fitting), f"after {_short(releases()[-1])}")


def _knows(release: str, api_key: int, version: int) -> bool:
    if api_key not in api_keys():
        return False
    declared = release_versions(api_key).get(release)
    return declared is not None and version < declared.stop


def _short(release: str) -> str:
    return ".".join(release.split(".")[:2])
