"""What a user reads of an error: a title, what happened, and what to do, in the user's language.

In: which texts an error calls for, and the texts, a file a language. Not in: what kind of error it is (services.normalizer
says so, and the record carries it) and the sending.
"""
