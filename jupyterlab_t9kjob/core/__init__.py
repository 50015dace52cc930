"""The engine-neutral core: job descriptions, job states, the engine protocol, errors.

Nothing here imports Jupyter, tornado or kubernetes, so it can be used and tested alone.
"""
