"""Stage 01: what a turn asks for becomes one provider-native request.

In: the channel's history, the neutral context (system text, turns of speech, stop strings, sampling), one module a dialect
that says it in a provider's words. Not in: secrets, which a request only refers to, and sending it (services.provider).
"""
