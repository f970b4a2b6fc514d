"""Tools in a request: which of them a turn may use, and how each dialect is told of them.

In: filtering by model, provider, server and turn, names and JSON Schemas as a provider takes them. Not in: running a tool
(services.tools), and calls of the past (services.context.sanitizing).
"""
