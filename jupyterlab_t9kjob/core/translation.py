"""Texts for users that can be translated.

`_` makes a `Text` from a message and named parameters::

    reason = _("Rank {rank} ended with exit code {exit_code}", rank=3, exit_code=1)

A `Text` is a `str` with the English text, and it keeps its message and parameters. The text is translated when a
response is written: models declare such fields as `Text`, whose serializer calls `translated`. Records on disk keep
message and parameters (``model_dump_json(context=STORED)``), so a record does not depend on the language.

Messages are found by ``pybabel extract -k _ -k _n:1,2``. They are whole sentences or whole labels: languages differ in
the order of words, so a sentence is never assembled from parts. A parameter is a name, a number, the message of another
program, or a `Text` that is complete by itself, such as a duration.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

Parameter: TypeAlias = "str | int | float"
Stored: TypeAlias = "str | dict[str, Any]"

STORED: Final = "stored"
"""Serialization context of records: texts keep their messages and parameters."""
_MOST_NESTED: Final = 20
"""Levels of texts within texts in a stored text."""
_MOST_REPEATED: Final = 1000
"""Number of characters by which a stored text may be longer than its message and its parameters together."""


class Catalogue(Protocol):
    """Translations of one language, as `gettext.NullTranslations` and JupyterLab's ``TranslationBundle`` give them."""

    def gettext(self, message: str, /) -> str:
        """Return the translation of a message, or the message."""

    def ngettext(self, singular: str, plural: str, number: int, /) -> str:
        """Return the translation for a number of things, or the English message for it.

        Parameters
        ----------
        singular, plural
            English messages for one thing and for any other number.
        number
            The number, which selects the language's form.
        """


class Text(str):
    """A text for users: English as a `str`, with the message and parameters that a translation needs.

    Attributes
    ----------
    message
        The English message with named placeholders; None for words that are never translated.
    plural
        The message for any number except one; None if the message does not depend on a number.
    params
        Values of the placeholders by name. A message with a plural has its number as ``n``.
    """

    __slots__ = ("message", "params", "plural")

    message: str | None
    plural: str | None
    params: Mapping[str, Parameter]

    def __new__(cls, message: str, plural: str | None = None, params: Mapping[str, Parameter] | None = None) -> Text:
        """Make the text of a message. Use `_` and `_n` instead, because the catalogue's tools find their messages."""
        params = params or {}
        text = super().__new__(cls, (message if plural is None or params["n"] == 1 else plural).format_map(params))
        text.message, text.plural, text.params = message, plural, params
        return text

    @classmethod
    def verbatim(cls, words: str) -> Text:
        """Return a text that is never translated, such as a message of another program; return a `Text` as it is."""
        if isinstance(words, Text):
            return words
        text = super().__new__(cls, words)
        text.message, text.plural, text.params = None, None, {}
        return text

    @classmethod
    def restored(cls, stored: Stored) -> Text:
        """Return a text from its stored form, which may come from another lab.

        Raises
        ------
        ValueError
            If `stored` is not a stored text, or its placeholders are not plain names.
        """
        return cls._restored(stored, 0)

    @classmethod
    def _restored(cls, stored: Stored, level: int) -> Text:
        if isinstance(stored, str):
            return cls.verbatim(stored)
        if level > _MOST_NESTED:
            raise ValueError("not a stored text: too many texts within texts")
        try:
            message, plural = stored["message"], stored.get("plural")
            params = {
                str(name): cls._restored(value, level + 1) if isinstance(value, dict) else cast("Parameter", value)
                for name, value in stored.get("params", {}).items()
            }
            if not (isinstance(message, str) and message and isinstance(plural, str | None)):
                raise ValueError("not a stored text: its message is not a string")
            if plural is not None and not isinstance(params["n"], int):
                raise ValueError("not a stored text: its number is not a whole number")
            _demand_plain(filter(None, (message, plural)), params)
            return cls(message, plural, params)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"not a stored text: {error!r}") from error

    def stored(self) -> Stored:
        """Return the form that records keep: the text itself if it is never translated, else message and parameters."""
        if self.message is None:
            return str(self)
        params = {name: value.stored() if isinstance(value, Text) else value for name, value in self.params.items()}
        return {"message": self.message} | ({"plural": self.plural} if self.plural else {}) | {"params": params}

    def with_params(self, **params: Parameter) -> Text:
        """Return the text with other values of some of its parameters.

        A parameter that the message itself lacks is set in the texts among its parameters.
        """
        own = {name: value for name, value in params.items() if name in self.params}
        others = {name: value for name, value in params.items() if name not in own}
        within = {
            name: value.with_params(**others)
            for name, value in self.params.items()
            if others and isinstance(value, Text) and value.message is not None
        }
        return self if self.message is None else Text(self.message, self.plural, {**self.params, **within, **own})

    def with_words(self, change: Callable[[str], str]) -> Text:
        """Return the text with `change` applied to all words outside the messages, for example to shorten them."""
        if self.message is None:
            return Text.verbatim(change(str(self)))
        params = {
            name: value.with_words(change)
            if isinstance(value, Text)
            else change(value)
            if isinstance(value, str)
            else value
            for name, value in self.params.items()
        }
        return Text(self.message, self.plural, params)

    def __reduce__(self) -> tuple[Any, ...]:
        return Text.restored, (self.stored(),)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        # The server's start must not pay for pydantic, and errors import this module.
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            _validated, serialization=core_schema.plain_serializer_function_ser_schema(_serialized, info_arg=True)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string"}


def _(message: str, /, **params: Parameter) -> Text:
    """Return the text of a message whose placeholders ``{name}`` are given by name."""
    return Text(message, None, params)


def _n(singular: str, plural: str, n: int, /, **params: Parameter) -> Text:
    """Return the text of a message that depends on a number. Both forms may contain the number as ``{n}``.

    Parameters
    ----------
    singular
        Message for one.
    plural
        Message for any other number.
    n
        The number.
    params
        Values of the other placeholders.
    """
    return Text(singular, plural, {**params, "n": n})


def sentences(*texts: str | None) -> Text | None:
    """Return sentences one after the other, without those that are None; None if no sentence remains."""
    said = [text for text in texts if text]
    return _joined(lambda first, rest: _("{first} {rest}", first=first, rest=rest), said) if said else None


def listing(names: Sequence[str], most: int | None = None) -> Text:
    """Return a list of names as a text: “a”, “a and b”, “a, b and 4 others”.

    Parameters
    ----------
    names
        At least one name.
    most
        Number of names after which the others are only counted; None to name all.
    """
    shown = list(names if most is None else names[:most])
    left = len(names) - len(shown)
    if left:
        return _n("{names} and {n} other", "{names} and {n} others", left, names=_enumerated(shown))
    if len(shown) == 1:
        return Text.verbatim(shown[0])
    return _("{names} and {last}", names=_enumerated(shown[:-1]), last=shown[-1])


def alternatives(names: Sequence[str]) -> Text:
    """Return at least one alternative as a text: “a”, “a or b”, “a, b or c”."""
    if len(names) == 1:
        return Text.verbatim(names[0])
    return _("{names} or {last}", names=_enumerated(names[:-1]), last=names[-1])


def _enumerated(names: Sequence[str]) -> Text:
    return _joined(lambda first, rest: _("{first}, {rest}", first=first, rest=rest), names)


def _joined(join: Callable[[str, str], Text], texts: Sequence[str]) -> Text:
    """Join at least one text by a message for two. Halves keep the texts within texts few (`_MOST_NESTED`)."""
    if len(texts) == 1:
        return Text.verbatim(texts[0])
    half = len(texts) // 2
    return join(_joined(join, texts[:half]), _joined(join, texts[half:]))


def _demand_plain(messages: Iterable[str], params: Mapping[str, Any]) -> None:
    """Raise `ValueError` for messages that read attributes of their parameters, or that make a long text of short ones.

    `str.format` would follow ``{name.__class__}``, and would fill ``{name:>99999999}`` with spaces.
    """
    if not all(isinstance(value, str | int | float) for value in params.values()):
        raise ValueError("not a stored text: a parameter is neither a text nor a number")
    lengths = {name: len(str(value)) for name, value in params.items()}
    for message in messages:
        length = 0
        for words, name, form, conversion in string.Formatter().parse(message):
            length += len(words)
            if name is None:
                continue
            if not name.isidentifier() or form or conversion:
                raise ValueError("not a stored text: a placeholder is more than a name")
            length += lengths[name]
        if length > len(message) + sum(lengths.values()) + _MOST_REPEATED:
            raise ValueError("not a stored text: it repeats a long parameter")


def _no_catalogue() -> Catalogue | None:
    return None


_current: Callable[[], Catalogue | None] = _no_catalogue


def use_catalogue(current: Callable[[], Catalogue | None]) -> None:
    """Set the function that returns the catalogue of the reader's language, or None for English.

    The language is a setting of the server: JupyterLab has one language for all pages and extensions.
    """
    global _current
    _current = current


def language() -> str:
    """Return a string that changes with the reader's language, as a key for caches of translated texts.

    It is the header of the catalogue, which gettext returns as the translation of the empty message.
    """
    catalogue = _current()
    return "" if catalogue is None else catalogue.gettext("")


def translated(text: str) -> str:
    """Return a text in the reader's language; in English if there is no translation."""
    catalogue = _current()
    return str(text) if catalogue is None else _in(catalogue, text)


def _in(catalogue: Catalogue, text: str) -> str:
    if not isinstance(text, Text) or text.message is None:
        return str(text)
    params = {name: _in(catalogue, value) if isinstance(value, str) else value for name, value in text.params.items()}
    try:
        if text.plural is None:
            message = catalogue.gettext(text.message)
        else:
            message = catalogue.ngettext(text.message, text.plural, int(params["n"]))
        if message is text.message and params == text.params:
            return str(text)
        return _filled(message, params)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # The catalogue's plural rule or the translation's placeholders are wrong, so the English text is used.
        return str(text)


def _filled(message: str, params: Mapping[str, Parameter]) -> str:
    """Return a translation with its parameters, without spaces between two Chinese characters.

    A translation has a space beside a placeholder because most values are Latin: “{who} 失败”, “worker-0 失败”. The
    value may also be a translated text: “脚本失败”.
    """
    said = ""
    for words, name, _form, _conversion in string.Formatter().parse(message):
        said = _beside(said, words)
        if name is not None:
            said = _beside(said, str(params[name]))
    return said


def _beside(before: str, after: str) -> str:
    """Return two parts of a text without a space between their Chinese characters, if a space is between them."""
    for left, right in ((before.removesuffix(" "), after), (before, after.removeprefix(" "))):
        if len(left) + len(right) < len(before) + len(after) and left and right and _is_han(left[-1] + right[0]):
            return left + right
    return before + after


def _is_han(text: str) -> bool:
    return all("\u4e00" <= character <= "\u9fff" for character in text)


def _validated(value: Any) -> Text:
    if isinstance(value, str | dict):
        return Text.restored(value)
    raise ValueError("not a text")


def _serialized(value: str, info: core_schema.SerializationInfo) -> Any:
    if info.context == STORED:
        return value.stored() if isinstance(value, Text) else value
    return translated(value)
