"""Servers of several versions for bench/run, each with fptree in it.

A server is the system's or, where the system has none of that version, one of
packages that test/servers gets; both are built for use, not for tests.  The
extension goes into a private copy.
"""

import os
import shutil
import subprocess
import tempfile

from pgcluster import BenchError

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def run(cmd):
    done = subprocess.run(cmd, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode != 0:
        raise BenchError("%s failed:\n%s" % (" ".join(cmd), done.stdout))
    return done.stdout.strip()


def installed(version):
    """Path of the pg_config of a server of this version."""
    bindir = "/usr/lib/postgresql/%s/bin" % version
    if all(os.access(os.path.join(bindir, name), os.X_OK)
           for name in ("postgres", "pg_config")) and \
            os.path.isdir("/usr/include/postgresql/%s/server" % version):
        return os.path.join(bindir, "pg_config")
    return run([os.path.join(ROOT, "test", "servers"), "--binaries",
                version]).split("\n")[-1]


class PrivateServer:
    """A copy of a server with the extension; removed on leaving the context.

    The parts keep their paths below the new root, since the programs find each
    other by relative ones.
    """

    PARTS = ("bindir", "sharedir", "pkglibdir", "pkgincludedir",
             "includedir-server")

    def __init__(self, version):
        self.version = version
        self.root = None

    def __enter__(self):
        """The copy's pg_config."""
        original = installed(self.version)
        self.root = tempfile.mkdtemp(prefix="fptree-bench-server.")
        os.chmod(self.root, 0o755)          # the server's user reads it
        try:
            for part in self.PARTS:
                path = run([original, "--" + part])
                shutil.copytree(path, self.root + path, dirs_exist_ok=True,
                                ignore_dangling_symlinks=True)
            pg_config = self.root + run([original, "--bindir"]) + "/pg_config"
            tree = os.path.join(self.root, "tree")
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(
                ".git", "*.o", "*.bc", "*.so", "tmp_check"))
            run(["make", "-s", "-j%d" % os.cpu_count(), "-C", tree,
                 "PG_CONFIG=" + pg_config, "install"])
        except BaseException:
            self.__exit__()
            raise
        return pg_config

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)
