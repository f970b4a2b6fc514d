"""Children that end when their parent dies, also by SIGKILL, so that no run leaves processes and ports behind.

Linux does this on request; elsewhere a killed parent leaves its children, and the next run says which port is taken.
https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html
"""

import ctypes
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def dying_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """What a child runs before its program: it will get the signal when the thread that started it ends. None elsewhere."""
    if sys.platform != "linux":
        return None
    # Loaded here: between fork and exec nothing may be imported or loaded.
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(number))

    return ask
