"""What must hold in every run: a history of a run, and one function an invariant that finds where it was broken.

In: the history as data, the index over it, the checks (`checks.check`), and the story of a violation (`story.tell`).
Not in: how a history comes about, be it a simulated world (`services.sandbox.simulation`) or real processes on a real
broker.
"""
