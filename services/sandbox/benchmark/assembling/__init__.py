"""Measuring the context worker's own work, in one process: from a channel's messages to a provider's request.

In: made-up channels and hostile texts, the steps timed apart and together, the figures. Not in: reading Discord, fetching
media, and whole turns (the rest of `services.sandbox.benchmark`).
"""
