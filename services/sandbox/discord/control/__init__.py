"""The control API under `/_sandbox/`, with which other processes play the people, break things, and see what happens.

Bodies are in `requests`, routes in `api`, what is shown of the world in `view`.
"""
