"""Files of samples, which become coarser with their age. The sampler of local jobs uses them: standard library only."""
