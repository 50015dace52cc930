"""CPUs, memory and accelerators of this machine, and the users of the accelerators."""
