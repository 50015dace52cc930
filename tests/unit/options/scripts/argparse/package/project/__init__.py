from .defaults import SEED

__all__ = ["SEED"]
