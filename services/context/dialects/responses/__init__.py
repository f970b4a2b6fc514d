"""OpenAI's responses API: what a neutral context becomes for it.

In: input items with their media, calls and outputs with the reasoning that must be replayed, the body's options. Not in:
keeping anything at the provider; a request says all, so that any process can make it.
"""
