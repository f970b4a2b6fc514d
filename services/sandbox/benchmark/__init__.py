"""Measuring whole turns: what the pipeline adds to a turn, how fast stops are, how many turns run at once.

In: a provider that notes when each byte is written, the reference without a broker, the load, the stop races, the search
for the highest number of turns. Not in: starting worker processes, which `services.cli` does behind the port in `crew`.
"""
