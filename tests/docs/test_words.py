"""The documentation speaks to its readers, of the product, in plain words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ALL, DOCS, ROOT, WRITTEN, prose, read

PLANS = ("TODO", "FIXME", "XXX", "roadmap", "coming soon", "future work", "not yet", "for now")
"""A page says what is, not what may be."""

WORKSHOP = ("/work", "/tmp/", "/home/", "session", "helper", "pull request", "milestone")
"""Nor how it came about."""

PRAISE = (
    *("blazing", "seamless", "state-of-the-art", "revolutionary", "cutting-edge", "effortless"),
    *("world-class", "powerful", "easy to use", "best-in-class", "game-chang", "leverage"),
)
"""Nor how good it is, other than in numbers."""

PAGES = (*WRITTEN, ROOT / "ARCHITECTURE.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("word", [*PLANS, *WORKSHOP, *PRAISE])
def test_no_page_has_words_that_help_no_reader(page: Path, word: str) -> None:
    found = [line for line in read(page).splitlines() if word.lower() in line.lower()]
    assert not found


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_a_page_begins_with_its_title(page: Path) -> None:
    first, second, *_ = read(page).splitlines()
    assert re.fullmatch(r"# \S.*", first)
    assert second == ""


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_lines_have_no_blanks_at_their_end(page: Path) -> None:
    assert not [line for line in read(page).splitlines() if line != line.rstrip()]
    assert read(page).endswith("\n")


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_sentences_are_short(page: Path) -> None:
    if page not in WRITTEN:
        return
    texts = [line for line in prose(read(page)).split("\n\n") if not line.startswith("|")]
    sentences = re.split(r"(?<=[.:;?!])\s+", " ".join(texts))
    long = [sentence for sentence in sentences if len(sentence.split()) > 50]
    assert not long
