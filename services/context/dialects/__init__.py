"""Every dialect that context can speak: a package each, and what those shaped like OpenAI's share.

A dialect is a pure function from a neutral context and a target to a request; which one a target takes says
services.context.render. Another provider of a known one needs a row of services.context.habits and no code.
"""
