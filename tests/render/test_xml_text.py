"""XML text reads back as the tree it was made of."""

from xml.etree.ElementTree import Element, SubElement, fromstring

from netdiag.render.formats.xml import _xml_text


def test_it_reads_back() -> None:
    root = Element("a", {"b": "<&\"'>日\U0001f600\n"})
    SubElement(root, "c").text = "]]> </c> é"
    text = _xml_text(root)
    assert text.isascii()
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<a ')
    back = fromstring(text.encode())
    assert back.attrib == root.attrib
    assert [child.text for child in back] == ["]]> </c> é"]
