"""`rules-raised`: new code goes out and then the rules' version is raised, while turns stream: each turn keeps its version.

The order is the one of a real deployment: first every orchestrator and normalizer gets the code that carries the next
version too, then the gateways stamp new messages with it.
"""

from dataclasses import asdict, dataclass, replace

from schemas.deliveries import SendText
from schemas.inbox import MessageReceived
from services.sandbox.chaos.next_worker import NEXT, NEXT_CODE, NEXT_RULES, PRESENT, program
from services.sandbox.chaos.scenarios import rolling
from services.sandbox.chaos.scenarios.renewal import Renewal, calm, look, renew, told
from services.sandbox.chaos.scenarios.scenario import Figures, Kind, Run, together
from services.sandbox.chaos.scenarios.streaming import StreamingCrowd
from services.sandbox.chaos.slots import Slot
from services.sandbox.chaos.stage import Scene
from services.sandbox.chaos.strikes import Struck
from services.sandbox.chaos.wishes import Wishes
from services.sandbox.checking.index import Index


@dataclass(frozen=True, slots=True)
class Version:
    """The turns of one version of the rules; `longest_text` (characters) shows by which rules they were cut."""

    turns: int
    longest_text: int


class RulesRaised:
    """A deployment in two waves."""

    def __init__(self, run: Run) -> None:
        self.crowd = StreamingCrowd(run, min(rolling.REPLY_S, run.wishes.seconds / 2))
        self.struck = Struck()
        self._run = run
        self._renewal: Renewal | None = None
        self._raised_s: tuple[float, float] = (0.0, 0.0)

    async def play(self) -> None:
        """Let all turns begin, deploy, raise the version, and go on until each channel has had a turn by the new rules."""
        await together(self.crowd.chat(), self._deploy())

    async def _deploy(self) -> None:
        run = self._run
        self._renewal = renewal = Renewal(await calm(run, self.crowd))
        new_code = [slot for kind in NEXT_CODE for slot in self._of(kind)]
        for slot in new_code:
            slot.program = program(slot.kind)
        await renew(run, new_code, self.struck, renewal.restarts)
        gateways = self._of("gateway")
        for slot in gateways:
            slot.environment = {**slot.environment, "ODRADEK_RULES_VERSION": str(NEXT)}
        since = run.clock.now()
        await renew(run, gateways, self.struck, renewal.restarts)
        self._raised_s = (since, run.clock.now())
        await self.crowd.each_again()
        self.crowd.go_home()

    def _of(self, kind: str) -> list[Slot]:
        return [slot for slot in self._run.slots.slots.values() if slot.kind == kind]

    def figures(self, index: Index) -> Figures | None:
        """As of a rolling restart, and how many turns each version had."""
        if self._renewal is None:
            return None
        figures = told(look(index, self.crowd, self._renewal))
        versions = {version: self._version(index, version) for version in NEXT_RULES}
        failures = [*figures.failures, *self._wrong(index)]
        if not versions[NEXT].turns:
            failures.append(f"no turn got version {NEXT}")
        lines = [
            f"rules {version}       {found.turns} turns, the longest text has {found.longest_text} characters"
            for version, found in versions.items()
        ]
        report = {**figures.report, "versions": {str(version): asdict(found) for version, found in versions.items()}}
        return replace(figures, report=report, lines=(*figures.lines, *lines), failures=tuple(failures))

    def _version(self, index: Index, version: int) -> Version:
        turns = [turn for turn in self.crowd.asked if _stamp(index, turn) == version]
        texts = [
            len(read.content.text)
            for turn in turns
            for read in index.turn(turn).sends.values()
            if isinstance(read.content, SendText) and read.content.start is not None
        ]
        return Version(len(turns), max(texts, default=0))

    def _wrong(self, index: Index) -> list[str]:
        """Turns whose version is not the one of their time."""
        since, until = self._raised_s
        return [
            f"turn {one.turn} was asked at {one.at:.1f} s and has version {stamp}; raised from {since:.1f} to {until:.1f} s"
            for one in self.crowd.asked.values()
            if (stamp := _stamp(index, one.turn)) not in _versions_at(one.at, since, until)
        ]


def _versions_at(at: float, since: float, until: float) -> tuple[int, ...]:
    # A message that comes while its gateway is away is stamped by the one that comes back.
    if at >= until:
        return (NEXT,)
    return (PRESENT, NEXT) if at >= since - 1.0 else (PRESENT,)


def _stamp(index: Index, turn: str) -> int | None:
    message = index.turn(turn).message
    return (
        message.content.rules_version if message is not None and isinstance(message.content, MessageReceived) else None
    )


def scene(wishes: Wishes) -> Scene:
    """As for a rolling restart; the checker folds by the rules of the newest code."""
    return replace(rolling.scene(wishes), rules=NEXT_RULES)


RULES_RAISED = Kind(
    "new code for orchestrators and normalizers, then a raised rules version, while turns stream", scene, RulesRaised
)
