"""Why a node has not got an image, in words."""

from __future__ import annotations

import re
from typing import Final

from ....core.job import Reason
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

_TROUBLES: Final = (
    (
        ("unauthorized", "authorization failed", "authentication required", "denied", "403 forbidden", "no basic auth"),
        "ImageNotAllowed",
        "The registry does not give image {image} to this cluster",
        "If it is private, name a pull secret that may read it. Check its name too: registries answer so as well where"
        " there is none.",
    ),
    (
        ("not found", "manifest unknown", "does not exist", "name unknown", "repository name not known"),
        "NoSuchImage",
        "There is no image {image}",
        "Check the name and the tag.",
    ),
    (
        ("toomanyrequests", "429 too many", "rate limit"),
        "RegistryLimit",
        "The registry gives image {image} out too often for now",
        "It is tried again by itself. A pull secret of an account, or a mirror, raises the limit.",
    ),
    (
        ("no space left",),
        "NodeDiskFull",
        "There is no disk space left on {node} for image {image}",
        "Whoever runs the cluster can free some, or place the job elsewhere.",
    ),
    (
        ("no match for platform", "no matching manifest"),
        "WrongPlatform",
        "The image {image} is not for {node}'s kind of processor",
        "Use an image that was built for it, or other nodes.",
    ),
    (
        ("dial tcp", "no such host", "name resolution", "i/o timeout", "connection refused", "connection reset",
         "no route to host", "x509:", "tls:", "context deadline exceeded", "unexpected eof", "bad gateway",
         "service unavailable", "internal server error"),
        "RegistryUnreachable",
        "The registry {registry} of image {image} can't be reached from {node}",
        "It is tried again by itself. Check the image's name, or use a registry that the cluster can reach.",
    ),
)  # fmt: skip
"""What the message has in it, the code, the sentence and the hint; the first that fits counts."""


def no_image(code: str, message: str, image: str, node: str) -> Reason | None:
    """Return why a container has no image.

    Parameters
    ----------
    code, message
        Of the container's waiting state.
    image
        As the pod asks for it.
    node
        Where the pod is.

    Returns
    -------
    Reason or None
        None if it waits for something else.
    """
    if code not in _CODES:
        return None
    shown = named(image)
    if code == "InvalidImageName":
        hint = "An image is named like registry.example.com/team/torch:2.1, in small letters."
        return made(code, f"“{shown}” is not the name of an image", hint, verbatim=message)
    if code == "ErrImageNeverPull":
        hint = "Choose another pull policy, or an image that the nodes have."
        return made(code, f"The image {shown} is not on {node}, and its pull policy is Never", hint, verbatim=message)
    # the image's own name may have any of the words in it
    said = _BEFORE.sub("", message).replace(image, "").lower() if image else message.lower()
    for signs, ours, sentence, hint in _TROUBLES:
        if any(sign in said for sign in signs):
            where = sentence.format(image=shown, node=node, registry=named(registry_of(image)))
            return made(ours, where, hint, verbatim=message)
    return made("ImagePull", f"The image {shown} can't be pulled", "It is tried again by itself.", verbatim=message)


def registry_of(image: str) -> str:
    """Return the registry of an image: what stands before the first slash, if it looks like a host."""
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else "docker.io"
