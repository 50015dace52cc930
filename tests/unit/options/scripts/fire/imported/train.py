from fire import Fire

from recipes.finetune import main

if __name__ == "__main__":
    Fire(main)
