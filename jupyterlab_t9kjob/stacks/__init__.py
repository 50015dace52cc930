"""Stacks of the ranks of jobs: taken through the engines, put into groups, described in words, and kept."""
