"""Stage 03: the provider's bytes become ProcessedChunks.

In: server-sent events, one module a dialect, the classes of errors, the assembly of text, thoughts and tool calls, all
of it pure. Not in: fetching the bytes (services.provider), deciding what to do with a chunk (services.orchestrator).
"""
