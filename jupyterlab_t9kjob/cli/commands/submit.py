"""The command `submit`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...core.errors import FieldError
from ...core.translation import _, translated
from ..base import Command, Place, output_option, placed, run, t
from ..errors import say, show_checks
from ..job_options import GIT, job_options
from ..output import paint, plain, print_data

if TYPE_CHECKING:
    from ...client.form import FilledJob, Target
    from ...client.options import JobOptions
    from ...client.session import Session
    from ...core.job import Job


@click.command(
    "submit",
    cls=Command,
    help=t(
        _(
            "Run a script or notebook as a job. What is not given is filled in as in JupyterLab's launch form. Words"
            " after “--” are arguments of the script."
        )
    ),
    examples=[
        "t9kjob submit train.py -- --epochs 10",
        "t9kjob submit train.py --procs 4 --follow",
        "t9kjob submit train.py -E kubeflow -n team-a --nodes 2 --gpus 8 --data imagenet:/data:ro",
        "t9kjob submit train.py --env OMP_NUM_THREADS=4 --env-from-secret WANDB_API_KEY=wandb:key",
        "t9kjob submit --module my_package.train --set run_policy.backoff_limit=0",
        "t9kjob submit train.py -E kubeflow --git https://git.example.org/team/code.git --branch main",
        "t9kjob submit -f job.yaml --dry-run",
    ],
)
@click.argument("file", required=False, type=click.Path())
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--file",
    "-f",
    "manifest",
    type=click.Path(),
    help=t(_("File with a manifest or the fields of a job; - for the standard input.")),
)
@click.option("--module", "-m", help=t(_("Run a module, as python -m does.")))
@click.option("--command", help=t(_("Run a shell command.")))
@job_options
@click.option(
    "--dry-run", is_flag=True, help=t(_("Print the command or manifest with all checks, and create nothing."))
)
@click.option(
    "--follow", is_flag=True, help=t(_("Print the log of rank 0 until the job ends; the exit code is 1 if it fails."))
)
@click.option("--wait", is_flag=True, help=t(_("Wait until the job ends; the exit code is 1 if it fails.")))
@output_option("json", "yaml", "name")
@placed
def submit_command(place: Place, form: str | None, dry_run: bool, follow: bool, wait: bool, **given: Any) -> None:
    """Submit a job.

    Parameters
    ----------
    place
        Options; engine and namespace say where the job runs.
    form
        ``json``, ``yaml``, ``name``, or None for sentences.
    dry_run
        True to print the command or manifest with its checks, and create no job.
    follow
        True to print the log of rank 0 until the job ends.
    wait
        True to wait until the job ends.
    **given
        Values of the other options by the names that the decorators give them. If the user has not given
        an option, its value is None, False for a flag, and empty for an option that may be repeated.
    """
    target, options = _read(place, given)

    async def work(session: Session) -> int:
        from ...client.form import create, fill, preview, worst

        job = await fill(session, target, options)
        seen = await preview(session, job, dry_run=dry_run)
        checks = [*job.notes, *seen.checks]
        show_checks(checks, hints=dry_run)
        if dry_run:
            _print_preview(job, seen.manifest or seen.command, form)
            say(plain(translated(seen.summary)))
            return int(worst(checks) == "error")
        if worst(seen.checks) == "error":
            return 1
        created = await create(session, job)
        print_created(created, form)
        return await _stay(session, created, follow=follow, wait=wait)

    run(place, work)


async def _stay(session: Session, job: Job, *, follow: bool, wait: bool) -> int:
    from ...client.log_lines import LogChoice
    from .logs import print_log, told_how_to_stop
    from .waiting import is_reached, say_end, wait_shown

    if not follow and not wait:
        return 0
    with told_how_to_stop(job):
        if follow:
            await print_log(session, job, LogChoice(follow=True))
        ended = await wait_shown(session, job, shown=not follow)
    say_end(ended)
    return int(not is_reached(ended, "ended"))


def print_created(job: Job, form: str | None) -> None:
    """Print a new job, and what to do next.

    Parameters
    ----------
    job
        The job.
    form
        ``json``, ``yaml``, ``name``, or None for a sentence.
    """
    if form in ("json", "yaml"):
        print_data(job.model_dump(mode="json"), form)
    elif form == "name":
        click.echo(job.name)
    else:
        click.echo(t(_("{job} is submitted.", job=paint(job.name, "Running"))))
        command = f"t9kjob logs -f {job.name}"
        say(t(_("Log: {command}", command=command)))
    sys.stdout.flush()


def _print_preview(job: FilledJob, text: str, form: str | None) -> None:
    if form in ("json", "yaml"):
        print_data(job.request.model_dump(mode="json", exclude={"dry_run", "written"}), form)
    elif form == "name" and job.request.spec is not None:
        click.echo(job.request.spec.name)
    else:
        click.echo(text.rstrip("\n"))


def _read(place: Place, given: dict[str, Any]) -> tuple[Target, JobOptions]:
    """Return target and options of the command line."""
    from ...client.form import Target
    from ...client.options import JobOptions

    file, args = given.pop("file"), list(given.pop("args"))
    manifest, module, command = given.pop("manifest"), given.pop("module"), given.pop("command")
    if file is not None and (manifest or module or command):
        args, file = [file, *args], None  # The words after “--” are the arguments of the module.
    if sum(each is not None for each in (file, manifest, module, command)) != 1:
        raise click.UsageError(t(_("Name one of a file, --module, --command and -f.")))
    if command is not None and args:
        raise click.UsageError(t(_("A shell command takes no further words: write them into --command.")))
    if given["git"] is None and any(given[name] for name in GIT):
        raise click.UsageError(t(_("The options of a git repository need --git.")))
    deadline, preset = given.pop("deadline"), given.pop("preset")
    env = dict(_variable(word) for word in given.pop("env"))
    secrets = dict(_pair(word, "--env-from-secret") for word in given.pop("secrets"))
    values = dict(_pair(word, "--set") for word in given.pop("values"))
    for name, option in (("labels", "--label"), ("annotations", "--annotation"), ("node_selector", "--selector")):
        given[name] = dict(_pair(word, option) for word in given[name])
    from ...client.options import read_value

    options = JobOptions(
        args=tuple(args),
        env=env,
        secrets=secrets,
        values={name: read_value(value) for name, value in values.items()},
        deadline_seconds=deadline,
        **given,
    )
    target = Target(
        file=None if file is None else Path(file),
        module=module,
        command=command,
        manifest=None if manifest is None else _text_of(manifest),
        engine=place.engine,
        namespace=place.namespace or "",
        preset=preset,
    )
    return target, options


def _pair(word: str, option: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise click.UsageError(t(_("{option} needs NAME=VALUE, not “{word}”.", option=option, word=word[:80])))
    return name, value


def _variable(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if equals:
        return name, value
    if name not in os.environ:
        raise click.UsageError(t(_("The variable {name} is not set here. Write --env {name}=VALUE.", name=name[:80])))
    return name, os.environ[name]


def _text_of(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise FieldError(
            _("{file} can't be read.", file=path), code="Unreadable", verbatim=str(error), hint=_("Check the path.")
        ) from None
