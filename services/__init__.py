"""Odradek's workers, their shared runtime, the sandbox and the command line; the contract between them is `schemas`."""
