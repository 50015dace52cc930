import hydra


@hydra.main(config_path="configs/", config_name="train.yaml", version_base="1.3")
def run(cfg):
    pass


if __name__ == "__main__":
    run()
