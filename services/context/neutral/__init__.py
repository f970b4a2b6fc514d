"""What is done to a neutral context before any dialect says it, the same for every provider.

In: which items are system text, where media may stand, what is cut to fit, which stop strings, sampling parameters and
thinking are asked for. Not in: a provider's words for any of it (services.context.dialects), fetching media
(services.context.media), reading Discord (services.context.building). All of it is pure.
"""
