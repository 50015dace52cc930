"""Resources of pods and nodes: which of them are accelerators, how they are added up, and their names for users."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from ....core.texts.quantity import amount
from ....core.translation import Text, _, _n
from .text import named

MEASURED: Final = ("cpu", "memory")
"""Resources that jobs ask for in addition to accelerators."""
THINGS: Final = {"cpu": _("CPU"), "memory": _("memory"), "ephemeral-storage": _("disk")}
"""Names of resources that are measured rather than counted."""

_ACCELERATOR: Final = re.compile(
    r"(?:^|[^a-z])(?:v?gpu|dcu|npu|tpu|gcu|mlu|xpu|gaudi|ascend\w*|neuron(?:core|device)?|mig-[\w.-]+)(?:$|[^a-z])"
    r"|^(?:i915|xe)$"
)
_PORTION: Final = re.compile(r"[-_.](?:mem|core|percent)")
"""Marks resources that are shares of a device, such as ``aliyun.com/gpu-mem``; they do not count devices."""
_NATIVE: Final = ("kubernetes.io", "k8s.io")
_MAKERS: Final = ("nvidia", "amd", "tesla", "geforce", "quadro", "instinct", "hygon")
_SHAPE: Final = re.compile(r"sxm\d*|pcie?|hbm\w*|nvl|oam|\d+gi?b", re.IGNORECASE)
"""Words of a product's name that give the form factor or the memory size."""
_BYTES: Final = ("memory", "ephemeral-storage")
_UNITS: Final = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"))


@lru_cache(1024)
def is_accelerator(resource: str) -> bool:
    """Return True if a resource is a kind of device that models are trained on, such as ``nvidia.com/gpu``."""
    domain, _slash, name = resource.rpartition("/")
    name = name.lower()
    is_device = _ACCELERATOR.search(name) is not None and _PORTION.search(name) is None
    return bool(domain) and not domain.endswith(_NATIVE) and is_device


# -- amounts -----------------------------------------------------------------------------------------------------------


def amounts_of(written: Mapping[str, Any]) -> Counter[str]:
    """Return the quantities of a resource list in base units; entries that are not quantities are left out."""
    found: Counter[str] = Counter()
    for name, each in written.items():
        read = _read(each) if isinstance(each, str | int) else None
        if read is not None:
            found[sys.intern(name)] = read  # type: ignore[assignment]  # a Counter's arithmetic, also with fractions
    return found


@lru_cache(4096)
def _read(written: str | int) -> float | None:
    return amount(str(written))


def exact(sum_: float) -> float:
    """Return a sum of quantities without the rounding error of binary fractions.

    Kubernetes' quantities have at most nine decimals.
    """
    return round(sum_, 9)


def times(has: float, wanted: float) -> int:
    """Return how many times a quantity contains another one.

    Parameters
    ----------
    has
        The quantity that is divided, in base units.
    wanted
        The divisor; not 0.
    """
    return round(has * 1e9) // round(wanted * 1e9)  # With binary fractions, 1 // 0.1 would be 9.


def together(amounts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the sum of several amounts by resource."""
    found: dict[str, float] = {}
    for each in amounts:
        for name, one in each.items():
            found[name] = exact(found.get(name, 0.0) + one)
    return found


# -- words -------------------------------------------------------------------------------------------------------------


def said(resource: str, amount: float, product: str | None = None) -> Text:
    """Return an amount of a resource in words: “8 A100”, “1 GPU”, “64 CPU”, “512 GiB memory”.

    Parameters
    ----------
    resource
        The resource's name in Kubernetes.
    amount
        The amount in base units: devices, cores, bytes.
    product
        The device's product as a node's labels give it; None if it is not known.
    """
    return _("{amount} {resource}", amount=quantity(resource, amount), resource=word(resource, amount, product))


def said_free(resource: str, amount: float, product: str | None = None) -> Text:
    """Return a free amount in words: “8 free A100”, “64 free CPU”; the parameters are those of `said`."""
    return _("{amount} free {resource}", amount=quantity(resource, amount), resource=word(resource, amount, product))


def quantity(resource: str, amount: float) -> str:
    """Return an amount without the resource's name: “8”, “0.5”, “512 GiB”.

    Parameters
    ----------
    resource
        The resource's name; it decides the unit.
    amount
        The amount in base units.
    """
    if resource not in _BYTES:
        return f"{amount:.10g}"
    unit, name = next((one for one in _UNITS if amount >= one[0]), _UNITS[-1])
    return f"{amount / unit:.4g} {name}"


def word(resource: str, amount: float = 2, product: str | None = None) -> str:
    """Return a resource's name for users: “A100” if the product is known, else “GPUs”, “CPU”, “example.com/dongle”.

    Parameters
    ----------
    resource
        The resource's name in Kubernetes.
    amount
        The amount that the name follows; it decides between singular and plural.
    product
        The device's product as a node's labels give it; None if it is not known.
    """
    if resource in THINGS:
        return THINGS[resource]
    counted = _devices(resource.rpartition("/")[2], 1 if amount == 1 else 2)
    if counted is None:
        return named(resource)
    return _short(product or "") or counted


def _devices(kind: str, number: int) -> Text | None:
    """Return the common name of a kind of device, whoever makes it; None if it has none."""
    match kind:
        case "gpu":
            return _n("GPU", "GPUs", number)
        case "vgpu":
            return _n("vGPU", "vGPUs", number)
        case "dcu":
            return _n("DCU", "DCUs", number)
        case "npu":
            return _n("NPU", "NPUs", number)
        case "xpu":
            return _n("XPU", "XPUs", number)
        case "tpu":
            return _n("TPU", "TPUs", number)
        case _other:
            return None


def _short(product: str) -> str:
    """Return a product's name without its maker and its form factor: “A100” for ``NVIDIA-A100-SXM4-80GB``."""
    words = re.split(r"[-_\s]+", product[:200])
    return named(" ".join(one for one in words if one.lower() not in _MAKERS and not _SHAPE.fullmatch(one)))
