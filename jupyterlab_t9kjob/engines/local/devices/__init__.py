"""GPUs, CPUs and memory of this machine, and who uses them."""
