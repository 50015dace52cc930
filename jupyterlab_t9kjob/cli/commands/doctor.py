"""The command `doctor`: what is missing on this machine and in its cluster, and the command that mends it."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from ...core.translation import Text, _, _n, listing, translated
from ..base import Command, Place, output_option, placed, run, t
from ..output import paint, plain, print_data

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.engine.info import EngineInfo
    from ...launch.model import Kernel

Level = Literal["ok", "missing", "optional"]
MARKS = {"ok": ("ok", "Succeeded"), "missing": ("missing", "Failed"), "optional": ("optional", "Pending")}
MOST_NAMED = 5
RIGHTS = ("create_jobs", "delete_jobs", "list_jobs", "watch_jobs", "list_pods", "read_logs", "list_events")
"""Permissions without which a job can't be run or understood."""
PERMISSION = _("Ask an administrator of the cluster for the permission.")


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes
    ----------
    level
        ``missing`` for what no job can do without, ``optional`` for a feature.
    subject
        The part: “This machine”, “TensorBoard”.
    sentence
        The finding.
    advice
        The command or the step that mends it.
    about
        What it means to choose the engine, for an engine that can be used.
    """

    level: Level
    subject: str
    sentence: Text
    advice: str | None = None
    about: Text | None = None

    def data(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        return {
            "level": self.level,
            "subject": translated(self.subject),
            "sentence": translated(self.sentence),
            "advice": None if self.advice is None else translated(self.advice),
            "about": None if self.about is None else translated(self.about),
        }


@click.command(
    "doctor",
    cls=Command,
    help=t(
        _(
            "Say what is missing on this machine and in its cluster, with the command that mends it. The exit code is 1"
            " if no engine can run jobs."
        )
    ),
    examples=["t9kjob doctor", "t9kjob doctor -E kubeflow -n team-a"],
)
@output_option("json", "yaml")
@placed
def doctor_command(place: Place, form: str | None) -> None:
    """Examine engines and packages.

    Parameters
    ----------
    place
        Options. If they name an engine, the report leaves out the other engines.
    form
        ``json``, ``yaml``, or None for lines of text.
    """
    engine, whole = place.engine, Place(None, place.namespace, place.home, place.context, place.verbose)

    async def work(session: Session) -> int:
        if engine is not None:
            session.jobs.engines.get(engine)  # Raises if there is none of this name.
        infos = [info for info in await session.jobs.engines.infos() if engine in (None, info.name)]
        found = [*_program(session), *await _engines(session, infos), *_packages()]
        if form is not None:
            print_data({"findings": [finding.data() for finding in found]}, form)
        else:
            _print(found)
        return int(not any(info.available and info.facts.creates_jobs for info in infos))

    run(whole, work)


def _print(found: Iterable[Finding]) -> None:
    for finding in found:
        word, color = MARKS[finding.level]
        title = f"{paint(f'{word:<8}', color)}  {plain(translated(finding.subject))}: "
        click.echo(f"{title}{plain(translated(finding.sentence))}")
        for more in filter(None, (finding.about, finding.advice)):
            click.echo(f"{'':<10}{plain(translated(more))}")


def _program(session: Session) -> Iterator[Finding]:
    from importlib.metadata import version

    text = _("version {version}, records in {folder}", version=version("jupyterlab_t9kjob"), folder=str(session.home))
    yield Finding("ok", "t9kjob", text)


async def _engines(session: Session, infos: Sequence[EngineInfo]) -> list[Finding]:
    found: list[Finding] = []
    for info in infos:
        if not info.available:
            trouble = _trouble(info)
            if trouble is None or info.reason != trouble[0]:
                found.append(_unavailable(info))
            continue
        if info.facts.runs_in_kernel:
            found += _machine(info, await session.kernels.all())
        if info.cluster is not None:
            found += _cluster(info)
    return [*found, *_broken(infos)]


def _unavailable(info: EngineInfo) -> Finding:
    """Return the finding about an engine that can't be used, although its cluster answers if it has one."""
    cluster, advice = info.cluster, None
    if cluster is None and info.facts.has_namespaces:
        advice = _("Name a cluster with --context or KUBECONFIG if you want to use one.")
    elif cluster is not None and "create_jobs" not in cluster.rights:  # It is read for the kinds of the cluster only.
        advice = _("Ask an administrator of the cluster to install it.")
    elif cluster is not None and not cluster.rights["create_jobs"].supported:
        advice = PERMISSION
    return Finding("optional", info.label, info.reason or _("not available"), advice)


def _trouble(info: EngineInfo) -> tuple[Text, Text | None] | None:
    """Return why an engine's cluster can't be read, and the advice; None if it can, or if there is none."""
    if info.cluster is not None and info.cluster.stale_reason is not None:
        return info.cluster.stale_reason, info.cluster.stale_hint
    if info.looking and info.reason is not None:
        return info.reason, _("The cluster has not answered. Check the network, the VPN and the kubeconfig.")
    return None


def _broken(infos: Iterable[EngineInfo]) -> Iterator[Finding]:
    """Yield the findings about clusters that can't be read, one for all engines with the same trouble."""
    labels: dict[tuple[Text, Text | None], list[str]] = {}
    for info in infos:
        trouble = _trouble(info)
        if trouble is not None:
            labels.setdefault(trouble, []).append(info.label)
    for (reason, hint), names in labels.items():
        yield Finding("missing", listing(names), reason, hint)


def _machine(info: EngineInfo, kernels: list[Kernel]) -> Iterator[Finding]:
    machine = info.machine
    if machine is not None:
        text = _n("{n} core", "{n} cores", machine.cpus)
        yield Finding("ok", info.label, text, about=info.facts.description)
        if machine.devices_problem is not None:
            yield Finding("optional", _("GPUs"), machine.devices_problem, "nvidia-smi")
        else:
            names = [f"{device.index}: {device.name}" for device in machine.devices]
            yield Finding("ok", _("GPUs"), listing(names, MOST_NAMED) if names else _("none"))
    able = [kernel for kernel in kernels if kernel.enabled and kernel.torch is not None and kernel.torch.version]
    if able:
        names = [f"{kernel.name} ({kernel.torch.version})" for kernel in able if kernel.torch is not None]
        yield Finding("ok", _("Kernels with PyTorch"), listing(names, MOST_NAMED))
    else:
        from ...launch.kernels.kernels import install_command

        enabled = [kernel for kernel in kernels if kernel.enabled]
        if enabled:
            advice = install_command(enabled[0], "torch")
            yield Finding("missing", _("Kernels with PyTorch"), _("No kernel has PyTorch."), advice)
        else:
            advice = shlex.join([sys.executable, "-m", "pip", "install", "ipykernel"])
            yield Finding("missing", _("Kernels with PyTorch"), _("There is no kernel of this machine."), advice)


def _cluster(info: EngineInfo) -> Iterator[Finding]:
    cluster = info.cluster
    assert cluster is not None  # noqa: S101
    place = _("{kind} at {server}, namespace {namespace}", kind=cluster.found, server=cluster.server,
              namespace=info.default_namespace)  # fmt: skip
    yield Finding("ok", info.label, place, about=info.facts.description)
    for name in RIGHTS:
        right = cluster.rights.get(name)
        if right is not None and not right.supported:
            reason = right.reason or _("The permission {name} is missing.", name=name)
            yield Finding("missing", info.label, reason, PERMISSION)


def _packages() -> Iterator[Finding]:
    """Yield the optional packages that this Python lacks."""
    for module, extra, use in (
        ("tensorboard", "tensorboard", _("TensorBoard can't be opened from JupyterLab.")),
        ("kubernetes", "kubernetes", _("Jobs in a cluster can't be seen or created.")),
    ):
        if importlib.util.find_spec(module) is None:
            command = shlex.join([sys.executable, "-m", "pip", "install", f"jupyterlab_t9kjob[{extra}]"])
            yield Finding("optional", module, use, command)
