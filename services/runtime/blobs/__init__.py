"""Claim checks for media: bytes wait in a store under their SHA-256, and records hold only the reference.

In: the port, a folder, S3. Not in: what the bytes are, and putting them into a request (services.provider).
"""
