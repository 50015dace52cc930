"""Jobs on this machine, through torchrun."""
