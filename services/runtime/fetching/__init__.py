"""Fetching what users point at: no such fetch reaches an address inside the operator's network.

In: what a URL may look like, which addresses are public, a network backend that connects to vetted addresses only, its
httpx transport, redirects by hand, and a fetch that is bounded in bytes and time. Not in: requests to the fixed hosts of
providers and of Discord, and what is done with the bytes.
"""
