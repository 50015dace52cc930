"""Readers of the files of runs, one module for each program that writes them. All block."""
