"""Anthropic's messages: what a neutral context becomes for a Claude, and for servers that speak its dialect.

In: turns that alternate, tool calls and their results, signed thinking, pictures, what a model takes of thinking, sampling
and prefills, cache breakpoints. Not in: which tools are on offer and their schemas (services.context.tools).
"""
