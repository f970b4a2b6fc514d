"""Providers' habits as data: what one provider of a dialect wants otherwise than another, one row each.

In: addresses, where the key goes, limits, which sampling parameters are taken, what a thinking level is called, keys that
are always sent, and the differences between servers that speak chat completions. Not in: how a context is said in a dialect
(services.context.dialects), and secrets. Another provider of a known dialect is another row.
"""
