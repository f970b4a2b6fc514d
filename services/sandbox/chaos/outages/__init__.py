"""Long outages of what the workers depend on, in the midst of twenty turns that stream at once.

In: making each outage and mending it, the run around it, what processes do meanwhile (their logs, memory and health ports)
and the figures. Not in: the processes, the reading back and the invariants, which every run shares.
"""
