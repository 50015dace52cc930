"""Fills the form of a script that a notebook starts with a launcher: ``!torchrun --nproc-per-node=4 train.py``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..core.checks import Check
from ..core.spec import Entrypoint, EnvVar, JobSpec, Torchrun
from ..core.translation import _, listing
from .model import NotebookLaunch
from .notebooks.launch_lines import LaunchLine
from .source_file import Source

_LONGEST_PATH: Final = 4096


@dataclass(frozen=True)
class Launched:
    """A launch command of a notebook, and the script that it starts.

    Attributes
    ----------
    notebook
        The notebook.
    cell
        Number of the cell, from 1.
    line
        The command.
    script
        Absolute path of the script.
    """

    notebook: Source
    cell: int
    line: LaunchLine
    script: Path

    @property
    def info(self) -> NotebookLaunch:
        """The command as the form shows it."""
        return NotebookLaunch(path=self.notebook.api, cell=self.cell, command=self.line.text)

    def applied(self, spec: JobSpec) -> JobSpec:
        """Return the spec of the script's form with the arguments and the size that the command gives."""
        line = self.line
        first = spec.replica_specs[0]
        torchrun = spec.torchrun or Torchrun()
        changes: dict[str, object] = {}
        if line.processes is not None:
            changes["proc_per_node"] = line.processes
        if line.max_restarts is not None:
            changes["max_restarts"] = line.max_restarts
        device = first.resources.device
        if device is not None and isinstance(line.processes, int):
            device = device.model_copy(update={"count": line.processes})
        group = first.model_copy(
            update={
                "replicas": line.nodes or first.replicas,
                "resources": first.resources.model_copy(update={"device": device}),
            }
        )
        entrypoint = spec.entrypoint
        if line.kind == "module":
            entrypoint = Entrypoint(kind="module", value=line.value)
        return spec.model_copy(
            update={
                "entrypoint": entrypoint,
                "args": self._with_filled(spec.args),
                "working_dir": self._working_dir(spec.working_dir),
                "env": [*spec.env, *(EnvVar(name=name, value=value) for name, value in line.env.items())],
                "torchrun": torchrun.model_copy(update=changes),
                "replica_specs": [group, *spec.replica_specs[1:]],
            }
        )

    def _with_filled(self, filled: list[str]) -> list[str]:
        """Return the command's arguments with the filled ones, such as the log directory, that it does not give."""
        args = self.line.args
        end = args.index("--") if "--" in args else len(args)
        given = {word.partition("=")[0] for word in args[:end]}
        added: list[str] = []
        is_new = True
        for word in filled:
            name, sign, _value = word.partition("=")
            if sign or word.startswith("-"):  # else it is the value of the option before
                is_new = name not in given
            if is_new:
                added.append(word)
        return [*args[:end], *added, *args[end:]]

    def _working_dir(self, folder: str | None) -> str | None:
        """Return the notebook's folder as the job sees it; `folder` is the script's."""
        below = os.path.relpath(self.script.parent, self.notebook.path.parent)
        if folder is None or below.startswith("..") or not folder.endswith(f"/{below}"):
            return folder
        return folder.removesuffix(f"/{below}") or "/"

    def notes(self) -> list[Check]:
        """Return hints about the parts of the command that the form does not take over."""
        found: list[Check] = []
        if self.line.dropped:
            message = _(
                "Not taken over from the command of cell {cell}: {options}.",
                cell=self.cell,
                options=listing(self.line.dropped),
            )
            found.append(Check(level="hint", code="LaunchOptions", message=message))
        if self.line.variables:
            message = _(
                "The command of cell {cell} contains parts that the notebook or a shell would replace: {variables}.",
                cell=self.cell,
                variables=listing(self.line.variables),
            )
            hint = _("Replace them with values.")
            found.append(Check(level="warning", code="LaunchVariables", message=message, hint=hint, field="/spec/args"))
        return found


def launched_script(source: Source) -> Launched | None:
    """Return the first launch command of a notebook's cells whose script exists (blocking).

    Parameters
    ----------
    source
        The file of the form.
    """
    for cell in source.converted.cells if source.converted is not None else []:
        line = cell.launch
        if line is None or line.kind == "command":
            continue
        name = line.value if line.kind == "script" else line.value.replace(".", "/") + ".py"
        if "\0" in name or len(name) > _LONGEST_PATH:
            continue
        script = Path(os.path.normpath(source.path.parent / name))
        if script.suffix == ".py" and script.is_file():
            return Launched(source, cell.cell.number, line, script)
    return None
