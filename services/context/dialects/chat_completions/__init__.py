"""Chat completions: what a neutral context becomes for OpenAI's chat API and for the many servers that speak it.

In: messages with their media, tool calls and results with what must be replayed, the body's options. Not in: how the
providers differ, which is data (services.context.habits), and merging and marking turns (services.context.strict_chat).
"""
