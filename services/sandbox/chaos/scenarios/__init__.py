"""The scenarios of `odradek chaos`: who chats, what strikes meanwhile, and the figures that a scenario adds of its own.

In: what every scenario has (`scenario`), one module each, and the table of them (`table`). Not in: what all runs share,
such as the stage, the slots, the wait for rest, and the checker's verdict (`services.sandbox.chaos.campaign`).
"""
