"""Draw what a terminal shows as an SVG picture: coloured text on standard input, the picture on standard output.

    netdiag check-listeners --color always FILE | python tools/terminal_picture.py > docs/check-listeners.svg

Knows the styles that netdiag uses, nothing else. The picture needs no font of its own, script or network.
"""

import re
import sys
import unicodedata
from html import escape

CELL_WIDTH, LINE_HEIGHT, FONT_SIZE, MARGIN, TITLE = 8.43, 19, 14, 18, 34
FOREGROUND, BACKGROUND, BAR = "#d4d7dd", "#16181d", "#23262d"
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
COLOURS = {"31": "#ff6b68", "32": "#7bc275", "33": "#e5b567", "36": "#6cb6d9"}
_STYLE = re.compile(r"\x1b\[([\d;]*)m")
# Browsers draw several blanks as one, and then stretch the text to its length.
_WORDS = re.compile(r"\S+(?: \S+)*")


def picture(text: str, title: str) -> str:
    """The SVG of a coloured text."""
    lines = text.rstrip("\n").split("\n")
    columns = max(_columns(_STYLE.sub("", line)) for line in lines)
    width = round(columns * CELL_WIDTH + 2 * MARGIN)
    height = round(len(lines) * LINE_HEIGHT + 2 * MARGIN + TITLE)
    rows = "\n".join(_row(line, MARGIN + TITLE + (n + 1) * LINE_HEIGHT - 5) for n, line in enumerate(lines))
    dots = "".join(
        f'<circle cx="{MARGIN + 18 * n}" cy="{TITLE / 2}" r="5" fill="{colour}"/>'
        for n, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    size = f'width="{width}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img">
<title>{escape(title)}</title>
<rect {size} rx="9" fill="{BACKGROUND}"/>
<path d="M0 {TITLE}V9a9 9 0 0 1 9-9H{width - 9}a9 9 0 0 1 9 9V{TITLE}Z" fill="{BAR}"/>
{dots}
<g font-family="{FONTS}" font-size="{FONT_SIZE}" fill="{FOREGROUND}">
<text x="{width / 2}" y="{TITLE / 2 + 5}" text-anchor="middle" fill="#8b919c">{escape(title)}</text>
{rows}
</g>
</svg>
"""


def _row(line: str, y: float) -> str:
    """One line of text; every run gets its place and its length, so that no font can shift what follows."""
    runs = []
    column = 0
    style = ""
    for index, part in enumerate(_STYLE.split(line)):
        if index % 2:
            style = part
            continue
        for words in _WORDS.finditer(part):
            x = MARGIN + (column + _columns(part[: words.start()])) * CELL_WIDTH
            runs.append(
                f'<text x="{x:.2f}" y="{y}" textLength="{_columns(words[0]) * CELL_WIDTH:.2f}"'
                f' lengthAdjust="spacingAndGlyphs"{_attributes(style)}>{escape(words[0])}</text>'
            )
        column += _columns(part)
    return "".join(runs)


def _attributes(style: str) -> str:
    codes = style.split(";")
    colour = next((COLOURS[code] for code in codes if code in COLOURS), None)
    return (
        (f' fill="{colour}"' if colour else "")
        + (' font-weight="bold"' if "1" in codes else "")
        + (' opacity="0.6"' if "2" in codes else "")
    )


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(picture(sys.stdin.read(), sys.argv[1] if len(sys.argv) > 1 else "netdiag"))
