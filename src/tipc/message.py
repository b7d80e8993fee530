"""A text for people as a value: an English template and what is put into it.

Stages make messages and hand them on; only where people read (``str``) does one become a text, in the
language of the reader. A file has the English text, and beside it the template and its values
(``message_to_json``), so that who reads the file later can have it in another language.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from tipc.language import DEFAULT, enumeration, say, say_detail, sentence
from tipc.reasons import Reason, reason_from_json, reason_to_json


@dataclass(frozen=True, slots=True)
class Message:
    """An English template with its ``{values}``. ``str`` is in the user's language.

    A value may be a message or a reason itself. A tuple is an enumeration of such.
    """

    english: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.spoken()

    def in_english(self) -> str:
        """For files and for programs, which must not depend on who reads."""
        return self.spoken(DEFAULT)

    def spoken(self, into: str = "") -> str:
        """In a language; without one, in the user's."""
        template = say(self.english, into)
        if not self.values:
            return template
        values = {}
        for name, value in self.values.items():
            values[name] = _spoken_value(value, into)
        try:
            return _FORMATTER.vformat(template, (), values)
        except (LookupError, AttributeError, TypeError, ValueError):
            return template  # it was read from a file in which its values are not those of its text

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: object, handler: object) -> dict[str, Any]:
        """For ``tipc schema``."""
        return {
            "title": "Message",
            "description": "An English template and the values that are put into it.",
            "type": "object",
            "properties": {"english": {"type": "string"}, "values": {"type": "object"}},
            "required": ["english", "values"],
        }

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        """In a file, a message stands as ``message_to_json`` has it. Only pydantic asks for this."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(
            message_from_json,
            core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()),
            serialization=core_schema.plain_serializer_function_ser_schema(message_to_json),
        )


def wording(english: str, **values: object) -> Message:
    """What a text says: ``wording("there is no device `{name}`", name=name)``."""
    return Message(english, values)


class EnglishText(str):
    """The English of a message as a text that records and files can keep; ``spoken`` knows its template."""

    message: Message

    def __new__(cls, message: Message) -> EnglishText:
        text = super().__new__(cls, message.in_english())
        text.message = message
        return text

    def __reduce__(self) -> tuple[type[EnglishText], tuple[Message]]:
        """For ``pickle`` and ``copy``."""
        return EnglishText, (self.message,)


def english_text(english: str, **values: object) -> EnglishText:
    """As ``wording``, for a place that keeps texts."""
    return EnglishText(Message(english, values))


def spoken(text: str | Message) -> str:
    """In the user's language; a text without parameters is its own template."""
    if isinstance(text, EnglishText):
        return text.message.spoken()
    if isinstance(text, Message):
        return text.spoken()
    translated = say(text)
    if translated == text:
        return say_detail(text)
    return translated


def in_english(text: str | Message) -> str:
    """For files and for programs."""
    if isinstance(text, Message):
        return text.in_english()
    return text


class _Lenient(Formatter):
    """Puts in a value as it is where its format does not fit: ``nan`` came as a word out of a file."""

    def format_field(self, value: Any, format_spec: str) -> str:
        try:
            return str(super().format_field(value, format_spec))
        except (TypeError, ValueError):
            return str(value)


_FORMATTER = _Lenient()


def _spoken_value(value: object, into: str) -> object:
    if isinstance(value, EnglishText):
        return value.message.spoken(into)
    if isinstance(value, Message):
        return value.spoken(into)
    if isinstance(value, Reason):
        return sentence(value, into)
    if isinstance(value, tuple):
        return enumeration([str(_spoken_value(one, into)) for one in value], into)
    if isinstance(value, (str, BaseException)):
        return say_detail(str(value), into)
    return value


def message_to_json(message: Message) -> dict[str, Any]:
    """``{"english": "images: {count}", "values": {"count": 3}}``."""
    values = {}
    for name, value in message.values.items():
        values[name] = _value_to_json(value)
    return {"english": message.english, "values": values}


def _value_to_json(value: object) -> Any:
    if isinstance(value, EnglishText):
        return message_to_json(value.message)
    if isinstance(value, Message):
        return message_to_json(value)
    if isinstance(value, Reason):
        return reason_to_json(value)
    if isinstance(value, tuple):
        return list(map(_value_to_json, value))
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if value is None or type(value) in (str, int, bool):
        return value
    return str(value)


def message_from_json(data: Mapping[str, Any]) -> Message:
    """The message of ``message_to_json``; raises ValueError if it is something else."""
    english, values = data.get("english"), data.get("values")
    if not isinstance(english, str) or not isinstance(values, dict):
        raise ValueError("a message has an English template and values")
    found = {}
    for name, value in values.items():
        found[str(name)] = _value_from_json(value)
    return Message(english, found)


def _value_from_json(value: Any) -> object:
    if isinstance(value, list):
        return tuple(map(_value_from_json, value))
    if isinstance(value, dict) and "english" in value:
        return message_from_json(value)
    if isinstance(value, dict):
        return reason_from_json(value)
    return value
