"""Pictures and videos of a context, made into what one target can take.

In: which media of a channel are shown at all, bounded downloads, what a file is by its first bytes, resizing and GIF
keyframes in processes that can be killed, and the resolver that puts the bytes, or the reason why there are none, in the
place of an address. Not in: the words of notices (services.context.notices), moving media between roles, and base64 in a
body.
"""
