"""Evicted jobs that another job continues from a checkpoint."""
