"""Real kills on a real Kafka: a crowd of worker processes, people who chat, faults from a seed, and the checker's verdict.

In: the scenarios, the plan of faults, the processes in their slots, the people, reading back everything that a run left
behind as a `History` (`services.sandbox.checking`), and the figures. Not in: the invariants, and the same faults in virtual
time (`services.sandbox.simulation`).
"""
