"""The command line `odradek`: one module a command, with everything heavy imported inside the command that needs it.

In: arguments, tables, messages and exit codes. Not in: what workers do, which is theirs and the runtime's.
"""
