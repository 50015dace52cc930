"""Stacks of the ranks of a job: how they are taken, and the form in which engines return them."""
