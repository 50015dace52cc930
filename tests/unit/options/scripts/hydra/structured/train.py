from dataclasses import dataclass, field
from typing import List, Optional

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING


@dataclass
class Optim:
    lr: float = 0.1
    momentum: float = 0.9


@dataclass
class Config:
    data: str = MISSING
    epochs: int = 5
    optim: Optim = field(default_factory=Optim)
    sizes: List[int] = field(default_factory=lambda: [1, 2])
    note: Optional[str] = None


cs = ConfigStore.instance()
cs.store(name="config", node=Config)


@hydra.main(version_base=None, config_name="config")
def main(cfg: Config):
    print(cfg)


if __name__ == "__main__":
    main()
