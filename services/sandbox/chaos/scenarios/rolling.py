"""`rolling`: every process gets SIGTERM, one after another, while many turns stream: none is interrupted, none repeated."""

from services.sandbox.chaos.scenarios.renewal import Renewal, calm, look, renew, told
from services.sandbox.chaos.scenarios.scenario import Figures, Kind, Run, together
from services.sandbox.chaos.scenarios.streaming import StreamingCrowd
from services.sandbox.chaos.stage import Scene
from services.sandbox.chaos.strikes import Struck
from services.sandbox.chaos.wishes import Wishes
from services.sandbox.checking.index import Index

TURNS = 50
REPLY_S = 26.0
"""How long a reply streams at PACE_MS."""

PACE_MS = 50.0
GRACE_S = 90.0
"""Longer than a reply streams, as the default of the settings is."""


class Rolling:
    """A rolling restart of all kinds, one after another."""

    def __init__(self, run: Run) -> None:
        self.crowd = StreamingCrowd(run, min(REPLY_S, run.wishes.seconds / 2))
        self.struck = Struck()
        self._run = run
        self._renewal: Renewal | None = None

    async def play(self) -> None:
        """Let all turns begin, look at the calm, renew everything, let the last turns end."""
        await together(self.crowd.chat(), self._renew())

    async def _renew(self) -> None:
        run = self._run
        self._renewal = Renewal(await calm(run, self.crowd))
        slots = sorted(run.slots.slots.values(), key=lambda slot: slot.kind)
        await renew(run, slots, self.struck, self._renewal.restarts)
        self.crowd.go_home()

    def figures(self, index: Index) -> Figures | None:
        """Interrupted and repeated turns, and the pauses of visible text."""
        return None if self._renewal is None else told(look(index, self.crowd, self._renewal))


def scene(wishes: Wishes) -> Scene:
    """A channel for each turn, replies that stream for long, and a grace period longer than they do."""
    return Scene(channels=wishes.turns or TURNS, model="sandbox-lines", pace_ms=PACE_MS, grace_s=GRACE_S)


ROLLING = Kind("a rolling restart of all processes while many turns stream", scene, Rolling)
