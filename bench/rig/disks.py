"""Emulated disks: mounts of stripefs, and a server whose indexes are on them."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

# pylint: disable=wrong-import-position
from cold_server import ColdCluster                          # noqa: E402
from pgcluster import BenchError                             # noqa: E402

DISTANCES = (0, 1, 2, 5, 10, 32, 64, 100)
PAGES = 400


class Disks:
    """Mounts of stripefs, the backing directories, and the model.

    The first mount is a volume striped over some disks, the others are single
    disks, each with a server of its own.
    """

    def __init__(self, service_us, backing, base, single):
        self.service = service_us
        self.backing = backing
        self.names = ["disks"] + ["disk%d" % i for i in range(single)]
        self.points = [os.path.join(base, x) for x in self.names]
        for name, point in zip(self.names, self.points):
            os.makedirs(os.path.join(self.backing, name), exist_ok=True)
            os.makedirs(point, exist_ok=True)
        self.mounted = []

    def mount(self, disks, service):
        """Fresh mounts have nothing in the page cache."""
        self.unmount()
        for name, point in zip(self.names, self.points):
            done = subprocess.run(
                [os.path.join(HERE, "stripefs"), point, "-o",
                 "backing=%s,disks=%d,unit=8192,service_us=%d" %
                 (os.path.join(self.backing, name),
                  disks if name == "disks" else 1, service)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, universal_newlines=True)
            if done.returncode != 0:
                raise BenchError("stripefs: " + done.stderr)
            self.mounted.append(point)

    def own(self, user):
        for point in self.points:
            shutil.chown(point, user)

    def unmount(self):
        for _ in range(50):
            self.mounted = [x for x in self.mounted if subprocess.run(
                ["umount", x], stderr=subprocess.DEVNULL).returncode != 0]
            if not self.mounted:
                return
            time.sleep(0.1)
        raise BenchError("cannot unmount " + ", ".join(self.mounted))

    def remove(self):
        self.unmount()
        shutil.rmtree(self.backing, ignore_errors=True)

    def check_model(self, disks):
        """Time of the raw reader by distance, as multiples of one disk's."""
        name = os.path.join(self.points[0], "model")
        behind = os.path.join(self.backing, self.names[0], "model")
        with open(behind, "wb") as f:
            f.write(bytes(8192 * 8 * PAGES))
        out = []
        for distance in DISTANCES:
            self.mount(disks, self.service)
            got = subprocess.run(
                [os.path.join(HERE, "rawread"), name, str(PAGES),
                 str(distance)], check=True, stdout=subprocess.PIPE,
                universal_newlines=True).stdout.split()
            out.append({"disks": disks, "distance": distance,
                        "elapsed_ms": float(got[0]),
                        "asking_ms": float(got[1]),
                        "service_us": self.service})
        os.unlink(behind)
        return out


def make_backing(parent):
    return tempfile.mkdtemp(prefix="fptree-rig.", dir=parent)


class RigCluster(ColdCluster):
    """The server stops, the disks are mounted anew, the server starts."""

    disks = None
    number = 1

    def restart(self, cold):
        self.ctl("-m", "fast", "stop")
        self.disks.mount(self.number, self.disks.service)
        self.ctl("start")
