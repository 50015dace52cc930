"""What a log tells about a failure: the error's text, the traceback, advice."""
