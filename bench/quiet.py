"""How much of the processors others took while something was measured."""

import os
import time

QUIET = 0.05    # of one processor


def busy():
    """Seconds that all processors have worked for anybody, hosts included."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _, _, *rest = f.readline().split()[1:9]
    ticks = sum(int(x) for x in [user, nice, system] + rest)
    return ticks / os.sysconf("SC_CLK_TCK")


class Gauge:
    """Adds up, over measurements by child processes, what others took."""

    def __init__(self):
        self.others = 0.0
        self.seconds = 0.0
        self.before = None

    def __enter__(self):
        self.before = self.now()
        return self

    def __exit__(self, *_):
        seconds, others = self.now()
        self.seconds += seconds - self.before[0]
        self.others += max(others - self.before[1], 0)

    @staticmethod
    def now():
        own = os.times()
        return time.monotonic(), busy() - (
            own.user + own.system + own.children_user + own.children_system)

    def machine(self):
        """For the line of JSON that describes where something was measured."""
        share = self.others / self.seconds if self.seconds else None
        return {"others": share, "quiet": share is not None and share <= QUIET}
