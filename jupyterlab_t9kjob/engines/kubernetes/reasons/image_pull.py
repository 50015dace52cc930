"""Reasons for which a node can't get a container's image."""

from __future__ import annotations

import re
from typing import Final

from ....core.job import Reason
from ....core.translation import Text, _
from ..objects.text import made, named

_CODES: Final = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
)
_BEFORE: Final = re.compile(r'^Back-off pulling image "[^"]*": (?:ErrImagePull: )?')

_SIGNS: Final = (
    (
        "ImageNotAllowed",
        ("unauthorized", "authorization failed", "authentication required", "denied", "403 forbidden", "no basic auth"),
    ),
    ("NoSuchImage", ("not found", "manifest unknown", "does not exist", "name unknown", "repository name not known")),
    ("RegistryLimit", ("toomanyrequests", "429 too many", "rate limit")),
    ("NodeDiskFull", ("no space left",)),
    ("WrongPlatform", ("no match for platform", "no matching manifest")),
    (
        "RegistryUnreachable",
        ("dial tcp", "no such host", "name resolution", "i/o timeout", "connection refused", "connection reset",
         "no route to host", "x509:", "tls:", "context deadline exceeded", "unexpected eof", "bad gateway",
         "service unavailable", "internal server error"),
    ),
)  # fmt: skip
"""Codes, each with words of the runtime's message that tell it; the first match counts."""


def no_image(code: str, message: str, image: str, node: str) -> Reason | None:
    """Return why a container has no image; None if the container waits for something else.

    Parameters
    ----------
    code, message
        Reason and message of the container's state ``waiting``.
    image
        The image as the pod's spec has it.
    node
        Name of the pod's node.
    """
    if code not in _CODES:
        return None
    shown = named(image)
    if code == "InvalidImageName":
        hint = _("An image is named like registry.example.com/team/torch:2.1, in lower case.")
        return made(code, _("“{image}” is not the name of an image", image=shown), hint, verbatim=message)
    if code == "ErrImageNeverPull":
        sentence = _("The image {image} is not on {node}, and its pull policy is Never", image=shown, node=node)
        hint = _("Choose another pull policy, or an image that the nodes have.")
        return made(code, sentence, hint, verbatim=message)
    # The image's own name may contain any of the words.
    shortened = _BEFORE.sub("", message).replace(image, "").lower() if image else message.lower()
    found = next((ours for ours, words in _SIGNS if any(word in shortened for word in words)), "ImagePull")
    sentence, hint = _explained(found, shown, node, named(registry_of(image)))
    return made(found, sentence, hint, verbatim=message)


def _explained(code: str, image: str, node: str, registry: str) -> tuple[Text, Text]:
    """Return the sentence and the hint of a code."""
    match code:
        case "ImageNotAllowed":
            return (
                _("The registry does not give image {image} to this cluster", image=image),
                _(
                    "If it is private, name a pull secret that may read it. Check its name too: registries give the"
                    " same answer for images that do not exist."
                ),
            )
        case "NoSuchImage":
            return _("There is no image {image}", image=image), _("Check the name and the tag.")
        case "RegistryLimit":
            return (
                _("The registry limits how often image {image} is pulled", image=image),
                _("The pull is tried again. A pull secret of an account, or a mirror, raises the limit."),
            )
        case "NodeDiskFull":
            return (
                _("There is no disk space left on {node} for image {image}", node=node, image=image),
                _("An administrator of the cluster can free some, or place the job elsewhere."),
            )
        case "WrongPlatform":
            return (
                _("The image {image} is not built for the processor of {node}", image=image, node=node),
                _("Use an image that was built for it, or other nodes."),
            )
        case "RegistryUnreachable":
            return (
                _(
                    "The registry {registry} of image {image} can't be reached from {node}",
                    registry=registry,
                    image=image,
                    node=node,
                ),
                _("The pull is tried again. Check the image's name, or use a registry that the cluster can reach."),
            )
        case _other:
            return _("The image {image} can't be pulled", image=image), _("The pull is tried again.")


def registry_of(image: str) -> str:
    """Return the registry of an image: the part before the first slash, if it looks like a host."""
    first, slash, _rest = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else "docker.io"
