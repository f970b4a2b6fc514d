"""REST v10: a module a resource, each a table of endpoints over the world; `adapter` binds them to HTTP."""
