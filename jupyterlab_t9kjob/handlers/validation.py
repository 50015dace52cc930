"""From the bytes of a request to a model, or to an error that names the field and says what to do."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, from_json

from ..core.errors import BadRequest, FieldError, JobError
from ..core.field_names import name_of
from ..core.job import ENGINE_NAME_PATTERN
from ..core.spec import ENV_NAME_PATTERN, NAME_PATTERN, NAMESPACE_PATTERN

SomeModel = TypeVar("SomeModel", bound=BaseModel)

SENTENCES = {
    "missing": "{name} is missing.",
    "extra_forbidden": "There is no field {name}.",
    "literal_error": "{name} must be {expected}.",
    "union_tag_not_found": "{name} has no type.",
    "union_tag_invalid": "{name} has a type that is none of {expected_tags}.",
    "greater_than_equal": "{name} must be {ge} or more.",
    "less_than_equal": "{name} must be {le} or less.",
    "string_type": "{name} must be text.",
    "int_type": "{name} must be a whole number.",
    "int_parsing": "{name} must be a whole number.",
    "int_from_float": "{name} must be a whole number.",
    "bool_type": "{name} must be true or false.",
    "bool_parsing": "{name} must be true or false.",
    "list_type": "{name} must be a list.",
    "dict_type": "{name} must be an object.",
    "model_type": "{name} must be an object.",
    "model_attributes_type": "{name} must be an object.",
    "string_too_short": "{name} must have {min_length} characters or more.",
    "string_too_long": "{name} must have {max_length} characters or fewer.",
    "too_short": "{name} must have {min_length} entries or more.",
    "too_long": "{name} must have {max_length} entries or fewer.",
}
# What a pattern means, in words: (what it must be, what to do).
PATTERNS = {
    NAME_PATTERN: (
        "{name} must be small letters, digits and dashes: a letter first, no dash last, 40 characters at most.",
        "Try “train-1”.",
    ),
    NAMESPACE_PATTERN: (
        "{name} must be small letters, digits and dashes: neither end a dash, 63 characters at most.",
        "Name a namespace of the cluster; leave it empty for the engine's own.",
    ),
    ENGINE_NAME_PATTERN: (
        "{name} must be lower-case letters, digits and hyphens: a letter first, 40 characters at most.",
        "Use the name of an engine of this server.",
    ),
    ENV_NAME_PATTERN: (
        "{name} must be letters, digits and underscores, and no digit first.",
        "The value stands in a field of its own, without “=”.",
    ),
    r"^[^\x00]*$": ("{name} has a NUL character, which no process can be given.", "Remove it."),
    r"^[A-Za-z0-9_-]{8,64}$": ("{name} must be 8 to 64 letters, digits, dashes or underscores.", "Send a random UUID."),
}


def parse(model: type[SomeModel], body: bytes) -> SomeModel:
    """Return the body of a request as a model. It must be as the contract says: the text ``"1"`` is no number.

    Raises
    ------
    BadRequest
        If it is not JSON, or not an object.
    FieldError
        If a field is wrong; `field` is its JSON pointer.
    """
    data = decode(body)
    if not isinstance(data, dict):
        raise BadRequest("The request's body must be a JSON object.")
    try:
        return model.model_validate(data, strict=True)
    except ValidationError as error:
        raise explain(error, data) from None


def parse_message(adapter: TypeAdapter[SomeModel], message: str | bytes) -> SomeModel:
    """Return a socket's message as a model.

    Raises
    ------
    BadRequest
        If it is not what the socket understands.
    """
    data = decode(message)
    try:
        return adapter.validate_python(data, strict=True)
    except ValidationError as error:
        refusal = explain(error, data)
        raise BadRequest(refusal.message, hint=refusal.hint) from None


def decode(text: str | bytes) -> Any:
    """Return JSON as Python data.

    Raises
    ------
    BadRequest
        If it is malformed, nested deeper than 200 levels, not UTF-8, or has NaN in it.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise BadRequest("The request's body is not JSON.", hint=f"The parser says: {error}.") from None


def explain(error: ValidationError, data: Any) -> JobError:
    """Put the first thing that is wrong into words."""
    first = error.errors(include_url=False)[0]
    pointer = _pointer(first, data)
    name = name_of(pointer)
    context = {key: str(value)[:200] for key, value in first.get("ctx", {}).items()}
    hint = None
    if first["type"] == "string_pattern_mismatch" and context["pattern"] in PATTERNS:
        sentence, hint = PATTERNS[context["pattern"]]
    elif first["type"] == "value_error":
        sentence = "{name}: {error}."
    else:
        sentence = SENTENCES.get(first["type"], "{name}: " + first["msg"].replace("{", "{{").replace("}", "}}") + ".")
    return FieldError(sentence.format(name=name, **context), field=pointer or None, hint=hint)


def _pointer(error: ErrorDetails, data: Any) -> str:
    """Return the JSON pointer of the value; pydantic's own marks for union members are left out."""
    path = ""
    for number, part in enumerate(error["loc"]):
        keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if part in keys:
            data = data[part]
        elif not (error["type"] == "missing" and number == len(error["loc"]) - 1):
            continue
        path += "/" + str(part).replace("~", "~0").replace("/", "~1")
    return path
