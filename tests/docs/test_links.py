"""Every link of the documentation leads somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import ALL, ROOT, anchor, headings, links, read

PAGES = (*ALL, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def is_made(target: Path) -> bool:
    """True where a target of the Makefile writes the page, or the picture beside it."""
    return target.parent == ROOT / "docs" and (
        f"docs/{target.name}" in MAKEFILE or target.suffix in {".png", ".svg"}
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_resolves(page: Path) -> None:
    for link in links(read(page)):
        if link.startswith(("https://", "mailto:")):
            continue
        name, _, fragment = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_relative_to(ROOT), link
        assert target.exists() or is_made(target), link
        if fragment:
            assert fragment in {anchor(heading) for heading in headings(read(target))}, link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_outside_are_encrypted(page: Path) -> None:
    assert not [link for link in links(read(page)) if link.startswith("http://")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_two_headings_of_a_page_have_one_anchor(page: Path) -> None:
    if page.name == "CHANGELOG.md":  # each version has the same sections
        return
    anchors = [anchor(heading) for heading in headings(read(page))]
    assert len(set(anchors)) == len(anchors)


def test_every_page_can_be_reached_from_the_first() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or not page.exists() or page.suffix != ".md":
            continue
        seen.add(page)
        named = (link.partition("#")[0] for link in links(read(page)))
        waiting += [(page.parent / name).resolve() for name in named if "://" not in name and name]
    assert set(ALL) <= seen
