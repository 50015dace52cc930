import os

# -----------------------------------------------------------------------------
# I/O
out_dir = "out"
eval_interval = 2000
eval_only = False  # if True, script exits right after the first eval
# adamw optimizer
learning_rate = 6e-4  # max learning rate
beta1 = 0.9
grad_clip = 1.0  # clip gradients at this value, or disable if == 0.0
dtype = "bfloat16"
_hidden = 3
sizes = [1, 2]
config_keys = [k for k, v in globals().items() if not k.startswith("_") and isinstance(v, (int, float, bool, str))]
exec(open("configurator.py").read())  # overrides from command line or config file
config = {k: globals()[k] for k in config_keys}
later = 5
