"""Guards: what a backend leaked into visible text, put where it belongs, before the reply is assembled.

In: one module a guard, each from canonical events to canonical events, and the table that says whose stream has which.
Not in: what a payload means (services.normalizer.dialects), and rules for text that is shown (services.orchestrator).

A guard holds back no more text than it must, in bounded memory, at a cost that grows with the text alone. Where an event
was cut out of the bytes makes no difference to any of them; how a provider cut its text into deltas makes none either,
but to the spill guard, whose rule is about a delta.
"""
