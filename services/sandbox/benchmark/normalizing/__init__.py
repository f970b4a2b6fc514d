"""Measuring the normalizer alone, in one process: against the floor of any reader of JSON, and against the official SDKs.

In: the recorded streams cut into one read an event, three readers of them, the figures. Not in: whole turns
(the rest of `services.sandbox.benchmark`).
"""
