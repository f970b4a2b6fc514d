"""The process that decodes: one job after another over its standard input and output, with as little as it can do with.

It has no secrets in its environment, a bound on memory and on processor time, and may write no file. What it sends back is
JSON and bytes, so a decoder that has been taken over can say wrong things but make its parent run nothing.
`python -m services.context.media.decoder` is started by services.context.media.decoding.
"""

import json
import resource
import struct
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from services.context.media.pictures import is_animated, keyframes, optimised, prepare
from services.context.media.rules import ImageRules, KeyframeRules, Unshowable

MOST_MEMORY = 1_500_000_000
_LENGTH = struct.Struct(">I")


def main() -> None:
    """Say that it is ready, and work until the parent closes its end."""
    confine()
    prepare()
    jobs, answers = sys.stdin.buffer, sys.stdout.buffer
    _write(answers, {"ready": True}, [])
    while header := jobs.read(_LENGTH.size):
        job: dict[str, Any] = json.loads(jobs.read(_LENGTH.unpack(header)[0]))
        data = jobs.read(job["size"])
        bound_processor_time(job["cpu_s"])
        answer, pieces = _answer(job, data)
        _write(answers, answer, pieces)


def _answer(job: dict[str, Any], data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    try:
        match job["kind"]:
            case "image":
                made, media_type = optimised(data, job["media_type"], ImageRules(**job["rules"]))
                return {"media_type": media_type, "sizes": [len(made)]}, [made]
            case "is_animated":
                return {"is_animated": is_animated(data, job["media_type"])}, []
            case _:
                frames = keyframes(data, KeyframeRules(**job["rules"]))
                pieces = [frame.data for frame in frames]
                return {"numbers": [frame.number for frame in frames], "sizes": [len(one) for one in pieces]}, pieces
    except Unshowable as error:
        return {"failed": error.stage}, []
    except MemoryError:
        return {"failed": "limit"}, []
    except Exception:
        return {"failed": "decode"}, []


def _write(out: BinaryIO, answer: dict[str, Any], pieces: list[bytes]) -> None:
    header = json.dumps(answer).encode()
    out.write(_LENGTH.pack(len(header)) + header + b"".join(pieces))
    out.flush()


def confine() -> None:
    """Bounds of the whole process. Not every system has all of them."""
    bounds = ((resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0))
    for what, most in bounds:
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def bound_processor_time(seconds: float) -> None:
    """So that a job ends even if nobody is left to kill it."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime + seconds) + 2, hard))


if __name__ == "__main__":
    main()
