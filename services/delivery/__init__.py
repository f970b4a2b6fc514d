"""Stage 07, Discord's messages out: each output of a turn is shown once, in order, and answered with a receipt.

In: when to send and to type (`sending`, `heartbeats`), the port to Discord and discord.py behind it (`channels`,
`discord_channels`), when no request may start (`fence`), what was sent or cancelled already (`memory`, `take_overs`,
`looking`, `receipts`), and what Discord's refusals mean (`refusals`). Not in: splitting text into messages, which the
orchestrator has done, and the websocket, which is the gateway's.
"""
