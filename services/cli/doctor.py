"""`odradek doctor`: is everything there that Odradek needs, and what to do about what is not."""

from services.cli.options import Json, Kafka, Prefix


def examine(kafka: Kafka = None, prefix: Prefix = None, as_json: Json = False) -> None:
    """Check broker, topics, Discord, provider, catalog and port, and say what to do about what is wrong.

    Each line begins with ok, info, warn or FAIL. Nothing is changed; no check takes longer than 5 seconds. Exits with 1
    if any check fails.

    \b
    Examples:
      odradek doctor
      ODRADEK_BROKER=embedded odradek doctor --kafka 127.0.0.1:9092
      odradek doctor --json | jq -r '.[] | select(.state == "FAIL") | .remedy'
    """
    from services.cli import doctor_report

    doctor_report.examine(kafka=kafka, prefix=prefix, as_json=as_json)
