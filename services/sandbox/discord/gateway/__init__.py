"""The gateway: which session is told which event (`sessions`), and its websocket (`connection`)."""
