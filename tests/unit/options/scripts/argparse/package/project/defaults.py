SEED = 42
OPTIMIZERS = {"sgd": 0.1, "adamw": 1e-3}
