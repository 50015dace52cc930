import hydra


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    return cfg


if __name__ == "__main__":
    main()
