"""The sandbox page: a channel to write in, and beside it the spool, each turn's records as they pass the topics.

In: `server` (routes and the one event stream), `chat` and `channel` (the local Discord), `feed` (the log), `spool` with
`turn`, `hops` and `glance` (what is kept and shown of records), `markup` (Discord's Markdown as a tree), and the browser's
own files in `static/`.
Not in: anything that writes to the log. The page only reads it, and speaks to Discord as the people in it do.
"""
