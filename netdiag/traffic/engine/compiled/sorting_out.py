"""Which pairs need Python, and which connections they are of."""

from netdiag.traffic.engine.compiled.arenas import Numbers
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.pairing import PRODUCE


@kernel
def rare_pairs(
    pairs: Numbers, facts: Numbers, reads_raw: bool, groups: Numbers, endpoints: bool, found: Numbers
) -> int:
    """The places of pairs with a message that is not a record that says all, or with rows of a rare table.

    `groups`: which api keys have rows of `group_events`; empty where nobody wants these. Gives how many there are.
    """
    count = 0
    for index in range(len(pairs)):
        asked, answer = pairs[index].asked, pairs[index].answer
        rare = asked < NOTHING or answer < NOTHING
        if not rare and asked >= 0:
            request = facts[asked]
            # Whether a Produce is answered at all stands in its body.
            reads = reads_raw or (answer == NOTHING and request.api_key == PRODUCE)
            rare = reads and request.raw != NOTHING
            if 0 <= request.api_key < len(groups) and groups[request.api_key]:
                rare = True
            if not rare and answer >= 0:
                response = facts[answer]
                rare = (reads_raw and response.raw != NOTHING) or (
                    endpoints and response.endpoints[1] > response.endpoints[0]
                )
        if rare:
            found[count] = index
            count += 1
    return count


@kernel
def distinct(pairs: Numbers, places: Numbers, found: Numbers, local: Numbers) -> int:
    """The connections of the pairs, each once, in `found`; `local` says of each pair which one it is.

    `places` has room for every connection and is NOTHING before and after.
    """
    count = 0
    for index in range(len(pairs)):
        connection = pairs[index].connection
        place = places[connection]
        if place == NOTHING:
            place = places[connection] = count
            found[count] = connection
            count += 1
        local[index] = place
    for index in range(count):
        places[found[index]] = NOTHING
    return count
