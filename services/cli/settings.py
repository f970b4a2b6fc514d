"""`odradek settings`: every setting with its variable, meaning, default, present value and where that comes from."""

from services.cli.options import Json

_HELP = """Show every setting: its environment variable, meaning, default and present value.

Settings come from the environment alone; a .env file is not read. Secrets are shown as ******** when they are set.
A value that cannot be used is marked WRONG; the command exits with 2 then.

\b
Examples:
  odradek settings
  odradek settings --json | jq -r '.[] | select(.source == "environment") | .variables[0]'
"""


def show(as_json: Json = False) -> None:
    from services.cli.settings_table import print_settings

    print_settings(as_json=as_json)


show.__doc__ = _HELP
