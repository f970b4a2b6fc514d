"""`python -m services.cli` is `odradek`; the supervisor starts its children so, whatever is on PATH."""

from services.cli.main import main

main()
