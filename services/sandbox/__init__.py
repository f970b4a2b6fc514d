"""A Discord and providers for one machine, and what shows them: they speak the real protocols, so workers run unmodified.

In: servers that take the place of somebody else's service, and their control ports. Not in: what a worker needs in
production.
"""
