"""The contract between workers: one pydantic model a record type, its headers, and the topics it travels on."""
