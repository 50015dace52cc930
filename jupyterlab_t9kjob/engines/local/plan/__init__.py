"""Makes plans for supervisors from specs, and checks the specs: commands, limits, arguments."""
