"""A history of calls made fit for the model that it goes to now, which may be another than the one that made it.

In: what of reasoning and signatures may be replayed, ids and names of calls in the target's form, calls and results brought
together, calls as text for models that have no tools or write calls so. Not in: a provider's words for any of it
(services.context.dialects). All of it is pure.
"""
