"""How the tests read a page."""

from __future__ import annotations

import pytest

from tests.docs.pages import MADE, WRITTEN, Block, anchor, blocks, commands, headings, links, prose

PAGE = """\
# A page

Words, a [link](other.md#part) and ![a picture](picture.png).

<!-- run -->
```console
$ jalapeno list
$ jalapeno show \\
    jalapeno
jalapeno: two lines
of answer
```

```python
text = "[no link](nowhere.md)"
# no heading
```

## Its last, and *best*, part
"""


def test_blocks_have_their_language_line_and_mark() -> None:
    console, python = blocks(PAGE)
    assert (console.language, console.mark, console.line) == ("console", "run", 7)
    assert (python.language, python.mark, python.line) == ("python", "", 15)
    assert PAGE.splitlines()[python.line - 1] == python.text.splitlines()[0]


def test_a_mark_belongs_to_the_block_right_below_it() -> None:
    (block,) = blocks("<!-- run -->\n\n```console\n$ x\n```\n")
    assert block.mark == ""


def test_a_block_that_is_not_closed_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 1: the block is not closed"):
        blocks("```python\nx = 1\n")


def test_an_empty_block_is_one() -> None:
    (block,) = blocks("```text\n```\nwords")
    assert block.text == ""
    assert prose("```text\n```\nwords").split() == ["words"]


def test_a_longer_fence_may_hold_a_shorter_one() -> None:
    (block,) = blocks("````text\n```\ninside\n```\n````")
    assert block.text == "```\ninside\n```"


def test_links_and_headings_are_not_looked_for_in_blocks() -> None:
    assert links(PAGE) == ("other.md#part", "picture.png")
    assert headings(PAGE) == ("A page", "Its last, and *best*, part")
    assert "nowhere" not in prose(PAGE)
    assert "Words" in prose(PAGE)


def test_an_anchor_is_what_github_makes_of_a_heading() -> None:
    assert anchor("Its last, and *best*, part") == "its-last-and-best-part"
    assert anchor("TTFT / TBT") == "ttft--tbt"


def test_a_command_may_go_over_lines_and_has_what_it_prints_below() -> None:
    (first, nothing), (second, said) = commands(blocks(PAGE)[0])
    assert (first, nothing) == ("jalapeno list", "")
    assert second.split() == ["jalapeno", "show", "jalapeno"]
    assert said == "jalapeno: two lines\nof answer"


def test_text_before_the_first_command_is_nothing() -> None:
    assert commands(Block(1, "console", "", "words\n$ a")) == (("a", ""),)


def test_pages_that_commands_write_are_not_among_the_written() -> None:
    names = {page.name for page in WRITTEN}
    assert names >= {"README.md", "guide.md", "physics.md", "glossary.md"}
    assert not names & set(MADE)
