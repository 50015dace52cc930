"""Base of the API's models, and types of texts that several of them use."""

from __future__ import annotations

from typing import Annotated, Any, Final

import pydantic
from pydantic import BaseModel, ConfigDict, StringConstraints
from typing_extensions import Self

BUILDS_IN_ANY_THREAD: Final = tuple(map(int, pydantic.VERSION.split(".")[:2])) >= (2, 14)
"""True if a model may be used for the first time by several threads at once (pydantic#13438).

Models are then built when they are used: a command uses few of them, and building all takes a quarter of its start.
"""

# A NUL byte can't be passed to a process.
PlainText = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
PathText = Annotated[PlainText, StringConstraints(max_length=4096)]


class Model(BaseModel):
    """Base of the API's models. Unknown fields are errors."""

    # An answer always has every field, so the TypeScript types need no question marks.
    model_config = ConfigDict(
        extra="forbid", json_schema_serialization_defaults_required=True, defer_build=BUILDS_IN_ANY_THREAD
    )

    @classmethod
    def of_all_fields(cls, **values: Any) -> Self:
        """Return a model from the values of all its fields, which are not checked.

        `model_construct` looks up the default of each field, which takes five times as long.
        """
        made = cls.__new__(cls)
        object.__setattr__(made, "__dict__", values)
        object.__setattr__(made, "__pydantic_fields_set__", set(values))
        object.__setattr__(made, "__pydantic_extra__", None)
        object.__setattr__(made, "__pydantic_private__", None)
        return made
