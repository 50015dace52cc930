"""State of the init container that clones a job's git repository."""

from __future__ import annotations

from ....core.code.git_address import is_commit, short_name
from ....core.code.git_errors import git_code, git_texts
from ....core.manifests.names import CLONE
from ....core.translation import Text, _
from ..client.api import Json
from ..client.json_access import text


def clone_running(container: Json) -> Text | None:
    """Return what an init container does; None if it clones no repository."""
    address = _argument(container, "--repo=")
    return None if address is None else _("Cloning the repository {name}", name=short_name(address))


def clone_problem(container: Json, message: str | None) -> tuple[Text, Text | None] | None:
    """Return why a repository could not be cloned, with a hint; None if the container clones no repository.

    Parameters
    ----------
    container
        The init container as the pod's spec has it.
    message
        Its termination message: the last lines of git-sync's log.
    """
    address = _argument(container, "--repo=")
    if address is None:
        return None
    ref = _argument(container, "--ref=") or ""
    return git_texts(git_code(message or ""), address, ref[:7] if is_commit(ref) else "" if ref == "HEAD" else ref)


def _argument(container: Json, option: str) -> str | None:
    arguments = container.get("args")
    if text(container, "name") != CLONE or not isinstance(arguments, list):
        return None
    found = (each for each in arguments if isinstance(each, str) and each.startswith(option))
    return next((each.removeprefix(option) for each in found), None)
