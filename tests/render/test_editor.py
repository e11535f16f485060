"""What editors show of addresses, from literal reports."""

import re

from markdown_it import MarkdownIt

from netdiag.deployment.declared_addresses import DeclaredAddress, Role
from netdiag.deployment.model.vantage import Vantage, VantageKind, docker_host
from netdiag.deployment.model.verdict import Address, Cell, Mechanism, Verdict, Word, refused
from netdiag.render.editor import AddressTexts
from netdiag.render.report import AddressRow, Matrix, Report
from tests.render.literals import place

HOSTILE = "`*b*[evil](x)<img>\x1b\n# k"
WHERE = place(b"localhost", "localhost")
LOCALHOST = Address(host="localhost", port=9092)


def report_of(owners: tuple[str, ...], *cells: tuple[Vantage, Verdict], role: Role = Role.ADVERTISED) -> Report:
    rows = tuple(
        AddressRow(
            input="f",
            address=DeclaredAddress(role=role, owner=owner, listener="EXTERNAL", address=LOCALHOST, where=WHERE),
        )
        for owner in owners
    )
    matrix = Matrix(
        input="f",
        vantages=tuple(vantage for vantage, _ in cells),
        cells=tuple(Cell(vantage=v.label, bootstrap=LOCALHOST, predicted=verdict) for v, verdict in cells),
    )
    return Report(addresses=rows, matrices=(matrix,))


def failed(because: str, mechanism: Mechanism = Mechanism.NOBODY_LISTENS) -> Verdict:
    contact = refused(mechanism, because)
    return Verdict(word=Word.BOOTSTRAP, reason="refused", bootstrap=contact)


def container(network: str) -> Vantage:
    return Vantage(kind=VantageKind.CONTAINER, label=f"container on {network}", networks=(network,))


def texts(report: Report) -> tuple[str, str]:
    """The hint and the Markdown of the only place."""
    found = AddressTexts(report)
    ((_, rows),) = found.places(report.addresses[0].address.where.path)
    return found.hint(rows), found.markdown(rows)


def test_what_files_say_is_text() -> None:
    vantage = Vantage(kind=VantageKind.CONTAINER, label=f"container on {HOSTILE}", networks=(HOSTILE,))
    hint, markdown = texts(report_of((HOSTILE,), (vantage, failed(HOSTILE))))
    assert hint == "containers ✗ refused"
    shown = MarkdownIt().render(markdown)
    assert shown.count("evil") == 3
    assert not re.search("<(?!/?(p|ul|li|code)>)", shown)
    assert "\x1b" not in hint + markdown


def test_networks_that_differ_are_told_apart() -> None:
    cells = ((container("a"), failed("no")), (container("b"), failed("no", Mechanism.OWN_LOOPBACK)))
    assert texts(report_of(("kafka",), *cells))[0] == "on a ✗ refused · on b ✗ localhost"


def test_brokers_that_share_a_text_are_counted() -> None:
    owners = tuple(f"kafka-{number}" for number in range(10_000))
    hint, markdown = texts(report_of(owners, (docker_host(), failed("no"))))
    assert hint == "host ✗ refused"
    assert markdown.endswith("and 9997 more")
    assert len(markdown) < 1000


def test_nothing_is_said_where_nothing_is_predicted_or_a_listener_binds() -> None:
    assert texts(report_of(("kafka",)))[0] == ""
    hint, markdown = texts(report_of(("kafka",), (docker_host(), failed("no")), role=Role.LISTENER))
    assert hint == ""
    assert markdown == "Listener `EXTERNAL` of `kafka` listens on `localhost:9092`."
