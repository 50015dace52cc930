import click
from pydantic import BaseModel, Field


class Base(BaseModel):
    seed: int = 0


class Settings(Base):
    data_dir: str = Field(..., description="Folder of the images.")
    batch_size: int = Field(32, description="Images per step.")
    lr: float = Field(default=1e-3, description="Learning rate.")
    tag: str | None = None


def options_from(model):
    """Add an option for each field of a model."""

    def add(function):
        for name, info in reversed(model.model_fields.items()):
            required = info.is_required()
            function = click.option(
                f"--{name.replace('_', '-')}",
                name,
                type=info.annotation if info.annotation in (int, float, str) else str,
                default=None if required else info.default,
                required=required,
                help=info.description,
            )(function)
        return function

    return add
