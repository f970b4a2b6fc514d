"""A local LLM provider that speaks four dialects over real HTTP/1.1 and plays scripts.

In here: scripts, canned replies and admission (`script`, `scripts_queue`, `replies`, `performance`, `admission`: pure),
one module a dialect (`dialects`), the book of calls (`recording`), the HTTP side (`server`, `endpoint`, `player`) and
the control API (`control`). Not in here: reading provider streams, which is the normalizer's work, and the command
line.
"""
