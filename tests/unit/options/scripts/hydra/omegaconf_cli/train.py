from omegaconf import OmegaConf

if __name__ == "__main__":
    default = OmegaConf.load("default.yaml")
    cfg = OmegaConf.merge(default, OmegaConf.from_cli())
    print(cfg.lr)
