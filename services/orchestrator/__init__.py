"""The turn state machine: a fold over one channel's inbox that decides what is asked, shown and finished.

Here: the state, the fold and its parts, and the segmenter, all pure; `worker` binds them to the log. Not here: how
prompts are assembled (`context`), how streams are read (`provider`, `normalizer`), how Discord is told (`delivery`).
"""
