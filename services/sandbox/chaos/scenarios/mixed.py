"""`mixed`: people mention, follow up, stop and kill, while processes die, freeze and end and the broker restarts."""

from services.sandbox.chaos.people import People
from services.sandbox.chaos.plan import draw_plan
from services.sandbox.chaos.scenarios.scenario import Figures, Kind, Run, together
from services.sandbox.chaos.stage import Scene
from services.sandbox.chaos.strikes import Strikes, Struck
from services.sandbox.checking.index import Index


class Mixed:
    """The faults of a seed, and people who do whatever people do."""

    def __init__(self, run: Run) -> None:
        wishes, stage = run.wishes, run.stage
        self.crowd = People(stage.discord.world, stage.channels, wishes.seed, run.clock)
        self._seconds = wishes.seconds
        self._clock = run.clock
        plan = draw_plan(
            wishes.seed,
            seconds=wishes.seconds,
            kills=wishes.kills,
            slots=sorted(run.slots.slots),
            broker=stage.broker is not None,
        )
        self._strikes = Strikes(plan, run.slots, stage.broker, run.clock, restart=wishes.restart)

    @property
    def struck(self) -> Struck:
        """What the plan did."""
        return self._strikes.struck

    async def play(self) -> None:
        """Chat and strike for as long as was asked for."""
        await together(self.crowd.chat(self._seconds), self._strikes.run(self._clock.now()))

    def figures(self, index: Index) -> Figures | None:
        """None: lost, shown twice, called again and recovered are figures of every run."""
        return None


MIXED = Kind(
    "kills, SIGTERMs, freezes and a restarting broker while people do whatever people do", lambda _: Scene(), Mixed
)
