"""Hyperparameters of a run: a dictionary that is written to disk at each change."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Iterator, Mapping, MutableMapping


class Params(MutableMapping):  # type: ignore[type-arg]  # Python 3.8 can't subscript it
    """Hyperparameters of a run.

    Parameters
    ----------
    save
        Writes all values.
    values
        The first values; they are not written.
    """

    def __init__(self, save: Callable[[dict[str, Any]], None], values: Mapping[str, Any] | None = None) -> None:
        self._save = save
        self._items = {_key(key): _plain(value) for key, value in (values or {}).items()}

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._items[_key(key)] = _plain(value)
        self._save(self._items)

    def __delitem__(self, key: str) -> None:
        del self._items[key]
        self._save(self._items)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Params({self._items!r})"

    def update(self, new_params: Mapping[str, Any], override: bool = True) -> None:  # type: ignore[override]
        """Set several values.

        Parameters
        ----------
        new_params
            The values.
        override
            False to keep values that exist.
        """
        checked = {_key(key): _plain(value) for key, value in new_params.items()}
        self._items.update({key: value for key, value in checked.items() if override or key not in self._items})
        self._save(self._items)

    def parse(self, dist_tf_strategy: Any = None, dist_torch_model: Any = None, dist_hvd: Any = None) -> None:
        """Record how the training is distributed, from one of three objects.

        Parameters
        ----------
        dist_tf_strategy
            A strategy of `tf.distribute`.
        dist_torch_model
            A model that is wrapped in DP or DDP.
        dist_hvd
            Horovod's module, such as `horovod.torch`.
        """
        if dist_tf_strategy is not None:
            policy = type(dist_tf_strategy).__name__
            if policy == "CollectiveAllReduceStrategy":
                policy += " (MultiWorkerMirroredStrategy)"
            found: dict[str, Any] = {"api": "tf.distribute", "policy": policy}
            resolver = dist_tf_strategy.cluster_resolver
            if resolver is not None:
                tasks = resolver.cluster_spec().as_dict()
                found["config"] = {name: len(addresses) for name, addresses in tasks.items()}
        elif dist_torch_model is not None:
            found = {"api": "torch.distributed", "policy": type(dist_torch_model).__name__, "config": {}}
            group = getattr(dist_torch_model, "process_group", None)  # DP has none
            if group is not None:
                found["config"]["worker"] = group.size()
                found["config"]["backend"] = str(sys.modules["torch.distributed"].get_backend(group))
        elif dist_hvd is not None:
            found = {"api": dist_hvd.__name__, "config": {"worker": dist_hvd.size()}}
        else:
            return
        self.update(found)

    def as_dict(self) -> dict[str, Any]:
        """Return all values."""
        return self._items


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"The name of a hyperparameter is a string, not {type(key).__name__}.")
    return key


def _plain(value: Any) -> Any:
    """Return a value as it is written: what JSON can hold, with tuples as lists. Raises `TypeError`."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as problem:
        raise TypeError(f"This value can't be a hyperparameter: {problem}") from None
