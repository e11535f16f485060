"""An element tree as the text of an XML file: ASCII only, indented, equal trees giving equal bytes."""

from xml.etree.ElementTree import Element, indent, tostring


def xml_text(root: Element) -> str:
    """The text; characters beyond ASCII are references, so that no encoding on the way can break it.

    What XML 1.0 forbids must not be in the tree: `places.plain` and `places.harmless` give none of it.
    """
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="us-ascii").decode("ascii")}\n'
