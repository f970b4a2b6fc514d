"""The gateway's metrics."""

from prometheus_client import Counter, Gauge

RECEIVED = Counter("odradek_gateway_messages_total", "Messages addressed to the bot", ["source"])
STOPS = Counter("odradek_gateway_stops_total", "Stops that users asked for", ["manner"])
BACKFILLED = Counter("odradek_gateway_backfilled_total", "Messages read over REST to fill a gap")
BACKFILLS_FAILED = Counter("odradek_gateway_backfills_failed_total", "Channels whose gap could not be read")
PACED = Counter("odradek_gateway_paced_total", "Messages that waited, since their channel got many at once")
UNACKNOWLEDGED = Gauge("odradek_gateway_unacknowledged", "Messages handed to the log and not yet acknowledged")
CONNECTED = Gauge("odradek_gateway_connected", "Whether the websocket to Discord is connected")
CONNECTS = Counter("odradek_gateway_connects_total", "Gateway sessions begun or resumed", ["how"])
