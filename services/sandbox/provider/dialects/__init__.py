"""The four native dialects, one module each: reading a request, writing the reply's SSE events, and native errors.

`table` joins them by name. Not in here: HTTP, pace, and what a script says; a dialect knows neither clock nor socket.
"""
