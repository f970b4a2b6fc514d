"""Discord's events in: messages addressed to the bot and stops, each written to the log once it has been decided upon.

In: who is answered (`admission`), order and catching up (`intake`, `watermarks`), stops (`stops`), and the websocket
client with its supervision (`client`, `connection`). Not in: anything that is shown in Discord, save the private answer
to who pressed Stop.
"""
