import os
from dataclasses import dataclass
from typing import Annotated, Optional

import tyro


@dataclass
class Args:
    exp_name: str = os.path.basename(__file__)[: -len(".py")]
    """the name of this experiment"""
    cuda: bool = True
    """if toggled, cuda will be enabled by default"""
    wandb_entity: Optional[str] = None
    """the entity (team) of wandb's project"""
    total_timesteps: int = 500000
    learning_rate: Annotated[float, tyro.conf.arg(aliases=["-l"], help="step size")] = 2.5e-4
    path: tyro.conf.Positional[str] = "data"


if __name__ == "__main__":
    args = tyro.cli(Args, description="PPO")
