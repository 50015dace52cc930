import quick_torch  # noqa: F401
