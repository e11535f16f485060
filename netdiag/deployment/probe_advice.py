"""What to do about a probe that did not go well: the next step, in the imperative."""

from collections.abc import Iterable, Mapping

from netdiag.deployment.observations import Address, Answered, Failed, Reason
from netdiag.deployment.probe_story import BootstrapStory
from netdiag.deployment.verdict import NO_BROKERS, EndpointOutcome, Word

_SECURED = {
    Word.TLS.value: "give the client security.protocol=SSL (or SASL_SSL), or use the port of a plaintext listener",
    Word.SASL.value: "give the client security.protocol=SASL_PLAINTEXT and credentials, or use another listener",
    Word.NOT_KAFKA.value: "use the port of a broker's listener for clients: something else answers here",
}
_WITH_CREDENTIALS = {
    Word.TLS.value: "compare the client's security.protocol, truststore and keystore with what the listener shows: "
    "`netdiag check-listeners --live --client-properties FILE` names its certificates' faults",
    Word.SASL.value: "compare the client's sasl.mechanism and credentials with what the listener takes",
    Word.NOT_KAFKA.value: _SECURED[Word.NOT_KAFKA.value],
}
_LOOPBACKS = ("localhost", "127.", "::1")


def next_step(place: str, story: BootstrapStory, *, speaks: str = "PLAINTEXT") -> str | None:
    """What to do first, for a client that speaks this security protocol; None where everything went well."""
    verdict = story.verdict
    secured = _SECURED if speaks == "PLAINTEXT" else _WITH_CREDENTIALS
    if verdict.word is Word.UNKNOWN:
        return "run it again with a longer --timeout, and -v"
    if not isinstance(verdict.bootstrap, Answered):
        return _about_bootstrap(place, story.dialogue.address, verdict.bootstrap, secured)
    if verdict.reason == NO_BROKERS:
        return "look into the broker's log: it answers and knows of no broker, so it has not joined its cluster"
    bad = next((one for one in verdict.endpoints if one.outcome != Word.OK.value), None)
    if bad is not None:
        return _about_endpoint(place, bad, verdict.endpoints, secured)
    group = story.group
    if group is not None and group.endpoint is not None and group.outcome != Word.OK.value:
        return f"repair the way to {group.endpoint.address}: consumers of group {group.group} are sent there"
    if group is not None and group.endpoint is None and not group.harmless:
        return "look at the topic __consumer_offsets: consumer groups cannot work without a leader of each partition"
    return None


def _about_bootstrap(place: str, address: Address, contact: object, secured: Mapping[str, str]) -> str:
    reason = contact.reason if isinstance(contact, Failed) else None
    if reason is Reason.UNRESOLVED:
        return f'use a name that is known at {place}, or make "{address.host}" known there (extra_hosts, a network)'
    if reason is not None and reason.value in secured:
        return secured[reason.value]
    if reason is Reason.CLOSED:
        return f"see who accepts there and who should: {_trace(place, address)}"
    return f"see where the way ends: {_trace(place, address)}"


def _about_endpoint(
    place: str, bad: EndpointOutcome, all_of_them: Iterable[EndpointOutcome], secured: Mapping[str, str]
) -> str:
    endpoint = bad.endpoint
    listener = f"advertised.listeners of broker {endpoint.node_id}"
    if bad.outcome == Word.WRONG_BROKER.value:
        same = [o.endpoint.node_id for o in all_of_them if o.endpoint.address == endpoint.address]
        shared = f": {', '.join(map(str, same))} share {endpoint.address}" if len(same) > 1 else ""
        return f"let every broker advertise an address of its own{shared}"
    if bad.outcome in secured:
        return secured[bad.outcome]
    if bad.outcome == Reason.UNRESOLVED.value:
        return (
            f'put a host that {place} can resolve into {listener}, on a listener of its own: "{endpoint.host}" is none'
        )
    if endpoint.host.startswith(_LOOPBACKS):
        return f"change {listener}: {endpoint.host} is {place} itself, not the broker"
    return f"see where the way ends: {_trace(place, endpoint.address)}; or change {listener}"


def _trace(place: str, address: Address) -> str:
    return f"`netdiag trace {place} {address}`"
