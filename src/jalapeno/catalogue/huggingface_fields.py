"""Fields of a Hugging Face config: each is read with what it must be, each mistake has its name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jalapeno.errors import BadFact, instead

MOST = 10**9
"""No dimension of a model is larger: what is, is a mistake."""

MOST_LAYERS = 10_000


def read_config(text: str, where: str) -> dict[str, Any]:
    """Return the table written in *text*; *where* (a file) begins the message.

    Raises :class:`BadFact` for what is not JSON, not a table, or says a key twice.
    """

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise BadFact(f"{where}: {said(twice)} is there twice: leave one")
        return found

    try:
        config = json.loads(text, object_pairs_hook=table)
        json.dumps(config)  # what is too deep to be written is too deep to be quoted
    except (ValueError, RecursionError) as error:  # ValueError: a number of too many digits, too
        raise BadFact(f"{where}: not JSON: {error}") from error
    if not isinstance(config, dict):
        raise BadFact(f"{where}: expected a table of fields, got {said(config)}")
    return config


def said(value: Any) -> str:
    """A value as the file has it, cut short."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True, slots=True)
class Fields:
    """A table of a config; a field that is null is one that is not there."""

    values: Mapping[str, Any]
    where: str
    """File and table, which begin every message."""

    def has(self, key: str) -> bool:
        """Whether the field says anything."""
        return self.values.get(key) is not None

    def count(self, key: str, least: int = 1, most: int = MOST) -> int:
        """A whole number in a range; :class:`BadFact` otherwise, as of all that follow."""
        value = self.values.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.bad(key, f"a whole number from {least} to {most:,}")
        return value

    def count_or(self, key: str, default: int) -> int:
        """A whole number, *default* where the field is not there."""
        return self.count(key, least=0) if self.has(key) else default

    def flag(self, key: str, default: bool) -> bool:
        """True or false, *default* where the field is not there."""
        value = self.values.get(key) if self.has(key) else default
        if not isinstance(value, bool):
            raise self.bad(key, "true or false")
        return value

    def word(self, key: str, known: Iterable[str]) -> str:
        """One of the *known* words; the message has the nearest."""
        value = self.values.get(key)
        if isinstance(value, str):
            return self._known(key, value, tuple(known))
        raise self.bad(key, f"one of {', '.join(known)}")

    def words(self, key: str, known: Iterable[str] | None = None) -> tuple[str, ...]:
        """A list of words, of the *known* ones if there are such."""
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.bad(key, "a list of words")
        return tuple(word if known is None else self._known(key, word, known) for word in value)

    def each(self, key: str, known: Iterable[str], layers: int) -> tuple[str, ...]:
        """One of the *known* words for each of the *layers*."""
        found = self.words(key, known)
        if len(found) != layers:
            raise BadFact(
                f"{self.where}: {key}: expected {layers} words, one for each of "
                f"num_hidden_layers, got {len(found)}"
            )
        return found

    def table(self, key: str) -> Fields:
        """The fields of a table within."""
        value = self.values.get(key)
        if not isinstance(value, Mapping):
            raise self.bad(key, "a table of fields")
        return Fields(value, f"{self.where}: {key}")

    def agree(self, key: str, value: Any, why: str) -> None:
        """Demand that the field, where it is there, has just this *value*."""
        if self.has(key) and json.dumps(self.values[key]) != json.dumps(value):
            raise self.bad(key, f"{said(value)}, {why}")

    def bad(self, key: str, wanted: str) -> BadFact:
        """The error for the field: what was found, and what is *wanted*."""
        if not self.has(key):
            return BadFact(f"{self.where}: {key}: missing: expected {wanted}")
        return BadFact(f"{self.where}: {key}: expected {wanted}, got {said(self.values[key])}")

    def _known(self, key: str, word: str, known: Iterable[str]) -> str:
        names = tuple(known)
        if word not in names:
            rest = instead(word, names)
            raise BadFact(f"{self.where}: {key}: not modelled: {said(word)}{rest}")
        return word
