"""The agnostic builder: from a channel's messages and what is known of it to a neutral context, in no provider's words.

In: a neutral model of a Discord message, what may be known of server, persona and turn, whose role a message has, how
hostile names and texts are kept from posing as others, media and links as parts, opaque ids for tools, notes and
directives, and the order of it all. It is pure. Not in: reading Discord (services.context.discord_history), which media
are shown (services.context.media), and what each provider wants of system text and roles (services.context.neutral).
"""
