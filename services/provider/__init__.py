"""Stage 02: a provider-native request becomes the provider's bytes, slice by slice, and one end.

In: the HTTP call, its deadlines and its abort, gathering bytes into slices, masking an echoed key, the claim that lets
one process alone make the call. Not in: what the bytes mean (services.normalizer), what to do after an end
(services.orchestrator), who assembles the request (services.context).
"""
