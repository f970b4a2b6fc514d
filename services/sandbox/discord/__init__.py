"""A local Discord: REST v10 and the gateway, faithful where discord.py and bots depend on it, with faults on demand.

In: a world in memory, its rules, its two protocols, and a control API under `/_sandbox/`. Not in: voice, reactions, threads,
permissions beyond "may this channel be used", and how a client is pointed here (the runtime's settings do that).

The world (`world`, `state`, `posting`, `interactions`, `webhooks`) is free of HTTP; `rest` and `gateway` are its faces.
"""
