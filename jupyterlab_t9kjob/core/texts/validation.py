"""Parsing of requests into models; errors name the invalid field and say what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, from_json

from ..code.model import LINE_PATTERN, OBJECT_NAME_PATTERN
from ..errors import BadRequest, FieldError, JobError
from ..job import ENGINE_NAME_PATTERN
from ..spec import ENV_NAME_PATTERN, NAME_PATTERN, NAMESPACE_PATTERN
from ..translation import Text, _, _n
from .field_names import name_of

SomeModel = TypeVar("SomeModel", bound=BaseModel)


def parse(model: type[SomeModel], body: bytes) -> SomeModel:
    """Return the body of a request as a model. Types are strict: the text ``"1"`` is not a number.

    Parameters
    ----------
    model
        The model.
    body
        The body.

    Raises
    ------
    BadRequest
        If the body is not JSON, or not an object.
    FieldError
        If a field is invalid; `field` is its JSON pointer.
    """
    data = decode(body)
    if not isinstance(data, dict):
        raise BadRequest(_("The request's body must be a JSON object."))
    try:
        return model.model_validate(data, strict=True)
    except ValidationError as error:
        raise explain(error, data) from None


def parse_message(adapter: TypeAdapter[SomeModel], message: str | bytes) -> SomeModel:
    """Return a message of a WebSocket as a model.

    Parameters
    ----------
    adapter
        Type adapter of the models that the WebSocket accepts.
    message
        The message.

    Raises
    ------
    BadRequest
        If the message is not one of these models.
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
        If the JSON is malformed, nested deeper than 200 levels, not UTF-8, or has NaN in it.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        message = _("The request's body is not JSON.")
        raise BadRequest(message, hint=_("The parser says: {error}.", error=str(error))) from None


def explain(error: ValidationError, data: Any, place: str = "") -> JobError:
    """Return the first error of a validation as a typed error.

    Parameters
    ----------
    error
        The errors.
    data
        The data that were validated.
    place
        JSON pointer of the data in a request.
    """
    first = error.errors(include_url=False)[0]
    pointer = place + _pointer(first, data)
    name = name_of(pointer)
    context = {key: str(value)[:200] for key, value in first.get("ctx", {}).items()}
    message, hint = _sentence(first["type"], name, context), None
    if first["type"] == "string_pattern_mismatch":
        message, hint = _pattern_sentence(context["pattern"], name)
    if message is None:
        message = _("{name}: {error}.", name=name, error=context.get("error") or first["msg"])
    return FieldError(message, field=pointer or None, hint=hint)


def _sentence(code: str, name: str, context: Mapping[str, str]) -> Text | None:
    """Return the sentence for a code of pydantic's errors; None for codes whose own message is shown."""
    match code:
        case "missing":
            return _("{name} is missing.", name=name)
        case "extra_forbidden":
            return _("There is no field {name}.", name=name)
        case "literal_error":
            return _("{name} must be {expected}.", name=name, expected=context["expected"])
        case "union_tag_not_found":
            return _("{name} has no type.", name=name)
        case "union_tag_invalid":
            return _("{name} has a type that is none of {types}.", name=name, types=context["expected_tags"])
        case "greater_than_equal":
            return _("{name} must be {least} or more.", name=name, least=context["ge"])
        case "less_than_equal":
            return _("{name} must be {most} or less.", name=name, most=context["le"])
        case "string_type":
            return _("{name} must be text.", name=name)
        case "int_type" | "int_parsing" | "int_from_float":
            return _("{name} must be a whole number.", name=name)
        case "bool_type" | "bool_parsing":
            return _("{name} must be true or false.", name=name)
        case "list_type":
            return _("{name} must be a list.", name=name)
        case "dict_type" | "model_type" | "model_attributes_type":
            return _("{name} must be an object.", name=name)
        case "string_too_short" if context["min_length"] == "1":
            return _("{name} is empty.", name=name)
        case "string_too_short":
            least = int(context["min_length"])
            return _n(
                "{name} must have {n} character or more.", "{name} must have {n} characters or more.", least, name=name
            )
        case "string_too_long":
            most = int(context["max_length"])
            return _n(
                "{name} must have {n} character or fewer.", "{name} must have {n} characters or fewer.", most, name=name
            )
        case "too_short":
            least = int(context["min_length"])
            return _n("{name} must have {n} entry or more.", "{name} must have {n} entries or more.", least, name=name)
        case "too_long":
            most = int(context["max_length"])
            return _n("{name} must have {n} entry or fewer.", "{name} must have {n} entries or fewer.", most, name=name)
        case _other:
            return None


def _pattern_sentence(pattern: str, name: str) -> tuple[Text, Text | None]:
    """Return sentence and hint for a value that does not match a pattern."""
    if pattern == NAME_PATTERN:
        return _(
            "{name} must be small letters, digits and dashes: a letter first, no dash last, 40 characters at most.",
            name=name,
        ), _("Try “train-1”.")
    if pattern == NAMESPACE_PATTERN:
        return _(
            "{name} must be small letters, digits and dashes: neither end a dash, 63 characters at most.", name=name
        ), _("Name a namespace of the cluster; leave it empty for the engine's own.")
    if pattern == ENGINE_NAME_PATTERN:
        return _(
            "{name} must be lower-case letters, digits and hyphens: a letter first, 40 characters at most.", name=name
        ), _("Use the name of an engine of this server.")
    if pattern == ENV_NAME_PATTERN:
        return _("{name} must be letters, digits and underscores, and no digit first.", name=name), _(
            "The value stands in a field of its own, without “=”."
        )
    if pattern == r"^[^\x00]*$":
        return _("{name} has a NUL character, which no process can be given.", name=name), _("Remove it.")
    if pattern == r"^[A-Za-z0-9_-]{8,64}$":
        return _("{name} must be 8 to 64 letters, digits, dashes or underscores.", name=name), _("Send a random UUID.")
    if pattern == r"^/":
        return _("{name} must be an absolute path.", name=name), _("Begin the path with a slash.")
    if pattern == OBJECT_NAME_PATTERN:
        return _("{name} must be the name of a Secret: small letters, digits, dashes and dots.", name=name), None
    if pattern == LINE_PATTERN:
        return _("{name} must be one line that is not empty.", name=name), None
    return _("{name} has characters that are not allowed.", name=name), None


def _pointer(error: ErrorDetails, data: Any) -> str:
    """Return the JSON pointer of the invalid value, without pydantic's own names of union members."""
    path = ""
    for number, part in enumerate(error["loc"]):
        keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if part in keys:
            data = data[part]
        elif not (error["type"] == "missing" and number == len(error["loc"]) - 1):
            continue
        path += "/" + str(part).replace("~", "~0").replace("/", "~1")
    return path
