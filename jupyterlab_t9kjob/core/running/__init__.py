"""A specification as its job runs it: paths of the snapshot or clone, the recorder on `PYTHONPATH`."""
