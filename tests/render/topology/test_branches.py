"""Trees of lines: folding, telling once what looks alike, ASCII where there is no terminal."""

from netdiag.render.screen import Run, Screen, Style, line_width, paint
from netdiag.render.topology.branches import Branch, branch_glyphs, draw_branches


def leaf(text: str, *more: str, name: str = "") -> Branch:
    return Branch(parts=tuple((Run(each),) for each in (text, *more)), name=name or text)


def text(root: Branch, screen: Screen, *, full: bool = False) -> str:
    return paint(draw_branches([root], screen, full=full), Screen(width=screen.width))


TREE = Branch(
    parts=((Run("host"),),),
    children=(Branch(parts=((Run("br0"),),), children=(leaf("a"), leaf("b"))), leaf("eth0")),
)


def test_a_tree_is_ascii_in_a_pipe() -> None:
    assert text(TREE, Screen()) == "host\n|- br0\n|  |- a\n|  `- b\n`- eth0\n"


def test_and_drawn_on_a_terminal_that_has_the_letters() -> None:
    assert text(TREE, Screen(colour=True)) == "host\n├─ br0\n│  ├─ a\n│  └─ b\n└─ eth0\n"
    assert branch_glyphs(Screen(colour=True, encoding="ascii")) == branch_glyphs(Screen())


def test_a_long_line_is_folded_between_its_parts_and_the_drawing_goes_on() -> None:
    root = Branch(
        parts=((Run("host"),),),
        children=(
            Branch(parts=((Run("first part"),), (Run("second part"),), (Run("third"),)), children=(leaf("x"),)),
            leaf("end"),
        ),
    )
    assert text(root, Screen(width=26)) == ("host\n|- first part  second part\n|  |   third\n|  `- x\n`- end\n")


def test_a_part_wider_than_the_screen_is_folded_between_words_and_keeps_its_style() -> None:
    words = "one two three four five six seven eight nine ten eleven twelve"
    lines = draw_branches([Branch(parts=((Run("x: "), Run(words, Style.BAD)),))], Screen(width=40))
    assert all(line_width(line) <= 40 for line in lines)
    assert " ".join(run.text for line in lines for run in line if run.style is Style.BAD) == words


def test_branches_that_differ_in_numbers_are_counted() -> None:
    many = Branch(parts=((Run("br0"),),), children=tuple(leaf(f"veth{n:x}", name=f"ns-{n}") for n in range(200)))
    assert text(many, Screen()) == "br0\n|- veth0\n|- veth1\n|- veth2\n`- and 197 more like these: ns-3 to ns-199\n"
    assert text(many, Screen(), full=True).count("veth") == 200


def test_an_odd_one_among_many_is_drawn_in_its_place() -> None:
    children = [leaf(f"veth{n}", name=f"ns-{n}") for n in range(50)]
    children[30] = leaf("veth30", "down")
    drawn_text = text(Branch(parts=((Run("br0"),),), children=tuple(children)), Screen())
    assert "veth30  down" in drawn_text
    assert "and 46 more like these: ns-3 to ns-49" in drawn_text


def test_eight_that_look_alike_are_few() -> None:
    few = Branch(parts=((Run("br0"),),), children=tuple(leaf(f"veth{n}") for n in range(8)))
    assert text(few, Screen()).count("veth") == 8
