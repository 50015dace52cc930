"""Models of the API of artifacts and of the data flow. Times are seconds since the epoch."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints

from ...core.base_model import Model, PathText
from ...core.job import Time
from ...core.translation import Text
from ..model import Status, Value

MOST_NODES: Final = 2000
MOST_FILES: Final = 2000
MOST_REFERENCES: Final = 1000
MOST_ROWS: Final = 1000
MOST_TENSORS: Final = 2000

NodeKind: TypeAlias = Literal["run", "artifact", "asset"]
PreviewKind: TypeAlias = Literal["text", "table", "image", "tensors", "markdown", "none"]
ArtifactPath = Annotated[PathText, StringConstraints(min_length=1)]


class FlowSweep(Model):
    """The sweep of a run's job."""

    id: str
    name: str


class FlowNode(Model):
    """A run, an artifact, or an asset of T9k's Asset Hub."""

    id: str
    kind: NodeKind
    name: str
    suffix: str = Field("", description="Six characters that tell runs or artifacts of one name apart; may be empty.")
    status: Status | None = Field(None, description="Null if the node is no run.")
    detail: Text | None = Field(None, description="The state of a run in words, or the kind of an asset.")
    found: bool = Field(description="False if the folder of an artifact is not found. Assets have no folder.")
    path: str | None = Field(None, description="Folder in the contents API; null if there is none.")
    place: str | None = Field(None, description="Folder on the disk, if it is outside the contents root.")
    sweep: FlowSweep | None = Field(None, description="The sweep of the run's job; null if there is none.")
    files: int | None = Field(None, description="Number of an artifact's files; null if they were not counted.")
    size: int | None = Field(None, description="Bytes of these files.")
    archived: bool = Field(False, description="True for an artifact that the user archived.")


class FlowEdge(Model):
    """An arrow from an artifact to the run that used it, or from a run to the artifact that it made."""

    source: str
    target: str
    cycle: bool = Field(False, description="True if the arrow leads back, so that the other arrows form no cycle.")


class Flow(Model):
    """Runs and artifacts as a graph."""

    nodes: list[FlowNode]
    edges: list[FlowEdge]
    truncated: bool = Field(description="True if there are more nodes; those far from the start are left out.")


class ArtifactFile(Model):
    """A file of an artifact."""

    path: str = Field(description="Path in the artifact.")
    size: int
    modified_at: Time
    kind: PreviewKind = Field(description="Kind of preview, by the name; none if the name does not tell.")
    link: bool = Field(False, description="True for a symbolic link.")
    readable: bool = Field(True, description="False for what can't be opened, such as a link out of the lab's folder.")


class Reference(Model):
    """The address of an object that is stored elsewhere. It is never followed."""

    path: str
    uri: str


class ArtifactDetail(Model):
    """An artifact in full."""

    id: str
    name: str
    suffix: str = ""
    labels: list[str] = Field(default_factory=list)
    description: str = ""
    created_at: Time | None = None
    path: str | None = Field(description="Folder in the contents API; null if it is outside the contents root.")
    place: str | None = Field(None, description="Folder on the disk, if it is outside the contents root.")
    archived: bool = False
    problem: Text | None = Field(None, description="Why the metadata can't be read; null if they can.")
    files: list[ArtifactFile]
    file_count: int = Field(description="Number of all files; `files` has the first 2000.")
    size: int = Field(description="Bytes of all files.")
    more_files: bool = Field(
        False, description="True if there are more than 100,000 files; number and bytes are those of the first then."
    )
    references: list[Reference] = Field(default_factory=list, description="The first 1000.")
    made_by: list[FlowNode] = Field(default_factory=list, description="Runs that have the artifact as an output.")
    comes_from: list[FlowNode] = Field(default_factory=list, description="Inputs of these runs.")
    used_by: list[FlowNode] = Field(default_factory=list, description="Runs that have the artifact as an input.")


class Tensor(Model):
    """A tensor in a file of the format safetensors."""

    name: str
    dtype: str
    shape: list[int]
    size: int = Field(description="Bytes.")


class Preview(Model):
    """The beginning of a file in a readable form. Which fields have content depends on the kind."""

    kind: PreviewKind
    size: int = Field(description="Bytes of the file.")
    truncated: bool = Field(False, description="True if the preview is not the whole file.")
    text: str | None = None
    has_text: bool = Field(False, description="True for a table whose file is text, which `text=true` shows as it is.")
    columns: list[str] = Field(default_factory=list)
    rows: list[list[Value]] = Field(default_factory=list)
    tensors: list[Tensor] = Field(default_factory=list)
    tensor_count: int = 0
    parameter_count: int = Field(0, description="Elements of all tensors.")
    facts: dict[str, str] = Field(default_factory=dict, description="Further metadata of the file.")
    problem: Text | None = Field(None, description="Why there is no preview; null if there is one.")


class EditArtifact(Model):
    """Change of what the lab keeps about an artifact. The artifact's own files stay as they are."""

    archived: bool


class ChecksumRequest(Model):
    """Request for the checksums of a file."""

    path: ArtifactPath


class Checksum(Model):
    """Checksums of a file."""

    path: str
    size: int
    md5: str = Field(description="T9k compares this one.")
    sha256: str
