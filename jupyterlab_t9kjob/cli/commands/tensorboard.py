"""The command `tensorboard`: shows log folders of jobs in a TensorBoard on this machine."""

from __future__ import annotations

import asyncio
import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ...core.errors import FieldError, NotFound, Unavailable
from ...core.translation import _
from ..base import Command, Place, complete_job, jobs_of, placed, run, t, the_jobs
from ..errors import say

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.job import Job
    from ...tensorboard.model import TensorBoard
    from ...tensorboard.process import Loader


@click.command(
    "tensorboard",
    cls=Command,
    help=t(
        _(
            "Show the log folders of jobs, or other folders, in a TensorBoard on this machine. Print its address;"
            " Ctrl-C ends it."
        )
    ),
    examples=[
        "t9kjob tensorboard train-1",
        "t9kjob tensorboard train-1 train-2 --browser",
        "t9kjob tensorboard ./runs /data/runs --port 6006",
    ],
)
@click.argument("words", metavar="JOB|FOLDER...", nargs=-1, required=True, shell_complete=complete_job)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help=t(_("Port of this machine; by default any free one."))
)
@click.option("--browser", is_flag=True, help=t(_("Open the page in a browser of this machine.")))
@placed
def tensorboard_command(place: Place, words: tuple[str, ...], port: int, browser: bool) -> None:
    """Show log folders.

    Parameters
    ----------
    place
        Options that say where the jobs are.
    words
        Names or ids of jobs, and paths of folders.
    port
        Port on this machine; 0 for a free one.
    browser
        True to open the page.
    """

    async def work(session: Session) -> int:
        from ...client.session import ROOT
        from ...contents_paths import ContentsRoot
        from ...tensorboard.board import Settings
        from ...tensorboard.manager import TensorBoardManager
        from ...tensorboard.page import LocalPage

        folders, job_id = await folders_of(session, place, words)
        settings = session.settings
        manager = TensorBoardManager(
            ContentsRoot(ROOT),
            settings=Settings(
                reload_interval=settings.tensorboard_reload_seconds, loader=cast("Loader", settings.tensorboard_loader)
            ),
        )
        failed: asyncio.Future[TensorBoard] = asyncio.get_running_loop().create_future()

        def listen(_ident: str, board: TensorBoard | None) -> None:
            if board is not None and board.status == "failed" and not failed.done():
                failed.set_result(board)

        manager.listen(listen)
        page: LocalPage | None = None
        try:
            board, _new = await manager.open(folders, job_id)
            await manager.endpoint(board.id)
            page = LocalPage(manager, board.id)
            address = page.start(port)
            click.echo(address)
            say(t(_("Ctrl-C ends TensorBoard.")))
            if browser:
                webbrowser.open(address)
            reason = (await failed).reason
            raise Unavailable(
                reason.sentence if reason is not None else _("TensorBoard ended."),
                hint=reason.hint if reason is not None else None,
                verbatim=reason.verbatim if reason is not None else None,
            )
        finally:
            if page is not None:
                await page.stop()
            await manager.stop()

    run(place, work)


async def folders_of(session: Session, place: Place, words: Sequence[str]) -> tuple[list[Path], str | None]:
    """Return the folders that words name, and the id of the job if they name one job only.

    A word with a slash is a folder. Another word is a job, or else a folder.

    Parameters
    ----------
    session
        The services.
    place
        Options of the command.
    words
        Jobs and folders.

    Raises
    ------
    NotFound
        If a word names neither.
    FieldError
        If a job has no log folder that this machine sees, or a folder can't be read.
    """
    from ...tensorboard.folders import folders_of as log_folders

    folders: list[Path] = []
    jobs: list[Job] = []
    known = {name for job in await jobs_of(session, place, deleted=True) for name in (job.name, job.id)}
    words = list(dict.fromkeys(words))
    for word in words:
        folder = None if word in known else await asyncio.to_thread(folder_of, word)
        if folder is None:
            job = await session.jobs.job((await the_jobs(session, place, [word]))[0].id)
            jobs.append(job)
            folders += log_folders(job, session.jobs.engines.facts(job.engine))
        else:
            folders.append(folder)
    return list(dict.fromkeys(folders)), jobs[0].id if len(jobs) == len(words) == 1 else None


def folder_of(word: str) -> Path | None:
    """Return the folder that a word names, None if it names none (blocking).

    Raises
    ------
    NotFound
        If there is no such folder though the word has a slash.
    FieldError
        If it is a file, or this account may not read it.
    """
    folder = Path(os.path.normpath(Path.cwd() / word))
    if not folder.exists():
        if "/" not in word:
            return None
        raise NotFound(_("There is no folder {path}.", path=str(folder)), code="NoSuchFolder")
    if not folder.is_dir():
        raise FieldError(
            _("{path} is a file.", path=str(folder)),
            code="NotAFolder",
            hint=_("Choose the folder that the event files are in."),
        )
    if not os.access(folder, os.R_OK | os.X_OK):
        raise FieldError(_("You don't have permission to read {path}.", path=str(folder)), code="NotReadable")
    return folder
