import fire


def train(
    base_model: str,
    data_path: str = "data.json",
    batch_size: int = 128,
    learning_rate: float = 3e-4,
    group_by_length: bool = False,
    lora_target_modules=["q_proj", "v_proj"],
    resume=None,
):
    """Fine-tune a language model.

    Args:
        base_model: Name or path of the model.
        data_path: File with instructions.
        batch_size: Examples per step,
            over all devices.
    """
    print(base_model)


if __name__ == "__main__":
    fire.Fire(train)
