"""The catalog: which models there are, who uses which of them, and with which keys, in one SQL database.

In: the tables and their migrations, the models that ship with Odradek, custom endpoints, what servers and people have
chosen, keys (encrypted at rest), and which model and key the next attempt of a generation takes. Not in: what a request
looks like (services.context), sending it (services.provider), and what is remembered of a turn (the log).
"""
