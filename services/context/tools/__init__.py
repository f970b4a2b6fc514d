"""Tools in a request: which of them a turn may use, and how each dialect is told of them.

In: filtering by model, provider, server and turn, names and JSON Schemas as a provider takes them, the prompt of a model
that writes its calls as text. Not in: running a tool (services.tools), and calls of the past (services.context.sanitizing).
"""
