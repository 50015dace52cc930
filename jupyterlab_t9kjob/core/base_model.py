"""Base of the API's models, and types of texts that several of them use."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

# A NUL byte can't be passed to a process.
PlainText = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
PathText = Annotated[PlainText, StringConstraints(max_length=4096)]


class Model(BaseModel):
    """Base of the API's models. Unknown fields are errors."""

    # An answer always has every field, so the TypeScript types need no question marks.
    model_config = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True)
