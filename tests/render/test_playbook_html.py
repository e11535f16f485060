"""The page is one piece, loads nothing, and shows foreign text as text."""

from html.parser import HTMLParser

from netdiag.render.playbooks import diagnosis_html
from tests.render.told import RUN, SYMPTOM


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onload", "onclick"}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_it_holds() -> None:
    page = Seen()
    page.feed(diagnosis_html([SYMPTOM], [RUN]))
    assert not {"script", "img", "iframe", "link"} & set(page.tags)
    for part in ("the client dials itself", "give it the service name", "1 finding", "<script>alert(1)</script>"):
        assert part in page.text
    assert "\x1b" not in page.text
    assert "‮" not in page.text
