"""What the numbers of rows stand for."""

import numpy as np

from netdiag.traffic.engine.compiled.naming import Ends, Naming
from netdiag.traffic.engine.options import EngineOptions

ONE = bytes(15) + b"\x07"
ENDS = Ends(5, "10.0.0.1:40000", "10.0.1.1:9092", None)


def test_an_id_has_its_name_from_the_pair_on_that_tells_it() -> None:
    naming = Naming(EngineOptions(), ["a.pcap"])
    number = naming.identify(ONE)
    assert naming.identify(ONE) == number
    assert naming.words().name[number] == -1
    naming.learn([(ONE, "orders")], 42)
    naming.learn([(ONE, "another")], 43)
    words = naming.words()
    assert (naming.texts.order[words.name[number]], words.since[number]) == ("orders", 42)
    assert naming.texts.order[words.shape[number]] == "AAAAAAAAAAAAAAAAAAAABw"


def test_an_id_that_comes_after_its_name_has_it_at_once() -> None:
    naming = Naming(EngineOptions(), [])
    naming.learn([(ONE, "orders")], 42)
    assert naming.words().since[naming.identify(ONE)] == 0
    for number in range(100):
        naming.identify(bytes(14) + bytes([1, number]))
    assert naming.texts.order[naming.words().name[0]] == "orders"


def test_a_connection_has_one_place_until_it_is_another() -> None:
    naming = Naming(EngineOptions(clients=frozenset({"10.0.0.1"})), [])
    contexts = {3: ENDS, 900: ENDS._replace(client="[::1]:4"), 2: ENDS._replace(client_id=None)}
    both = np.array([3, 900], np.int32)
    first, second = naming.places(both, contexts).tolist()
    contexts[3] = Ends(*ENDS)
    assert naming.places(both, contexts).tolist() == [first, second]
    contexts[3] = contexts[900]
    third, again, other = naming.places(np.array([3, 900, 2], np.int32), contexts).tolist()
    assert again == second
    assert naming.connections["client"][third] == naming.connections["client"][second]
    assert naming.connections["client_id"][other] == -1
    assert first != second
    assert naming.connections["is_client"][[first, second]].tolist() == [1, 0]
    assert naming.texts.order[naming.connections["client"][second]] == "[::1]:4"
    naming.restart([], [])
    assert naming.places(np.array([2], np.int32), contexts).tolist() == [0]


def test_api_keys_have_their_names() -> None:
    naming = Naming(EngineOptions(), [])
    for _ in range(2):
        found = naming.api_names(np.array([0, 18, -3, 18, 999], np.int16))
        names = [naming.texts.order[number] for number in found]
        assert names == ["Produce", "ApiVersions", "API_KEY(-3)", "ApiVersions", "API_KEY(999)"]


def test_what_is_needed_is_known_after_a_new_start() -> None:
    naming = Naming(EngineOptions(), ["a.pcap"])
    text, number = naming.texts.number("orders"), naming.identify(ONE)
    naming.learn([(ONE, "orders")], 3)
    texts, ids = naming.restart([text], [number])
    assert naming.texts.order[texts[text]] == "orders"
    assert naming.words().since[ids[number]] == 0
    assert naming.ids == 1
