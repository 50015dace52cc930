"""Notifies users of the ends and delays of their jobs: in open pages through the feed, elsewhere through webhooks.

`occasions` finds the events of a job. `messages` describes an event for people. `formats` writes a message as each chat
service expects it. `webhooks` sends it. `outbox` delivers each message at least once, also after a restart.
"""
