"""What follows a provider call that failed or said nothing: the same again with less of it, after a pause, or another.

Here: what an error names, the ladder of what is given up, the wait, and the decision, all pure. Not here: which keys and
models there are (`context` knows), what a request can give up (its prompt says), and how the next generation is asked for.
"""
