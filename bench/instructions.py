"""Instructions of a statement, counted by valgrind.  Used by bench/ascending,
bench/cliffs, bench/run and bench/short.

The server is stopped meanwhile: a backend without one (postgres --single) runs
under valgrind --tool=callgrind, and only what its executor does is counted.
"""

import os
import re
import shutil
import subprocess
import tempfile

from pgcluster import BenchError


def available():
    return shutil.which("valgrind") is not None


def count_calls(text, name):
    """How often a function is called, by what callgrind wrote."""
    return sum(int(n) for n in re.findall(
        r"^cfn=%s\ncalls=(\d+)" % re.escape(name), text, re.M))


def count_each(cluster, statements, function, profile=None, calls=()):
    """Instructions that a function of the server takes in each statement, which
    calls it once, all in one backend; the server is stopped.  After these, the
    calls of each of some functions meanwhile.  profile: a directory for what
    callgrind writes, or None.
    """
    kept = tempfile.mkdtemp(prefix="callgrind.", dir=cluster.dir)
    if cluster.as_user:
        shutil.chown(kept, cluster.as_user[2])
    done = subprocess.run(
        cluster.as_user + [
            "valgrind", "--tool=callgrind", "--callgrind-out-file=" +
            os.path.join(kept, "out"), "--toggle-collect=" + function,
            "--dump-after=" + function, "--compress-strings=no",
            cluster.tool("postgres"), "--single", "-D", cluster.data, "bench"],
        env=cluster.env(), cwd=cluster.dir, universal_newlines=True,
        input="\n".join(statements) + "\n", stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    found = []
    for n in range(1, len(statements) + 1):
        path = os.path.join(kept, "out.%d" % n)
        if done.returncode != 0 or not os.path.exists(path):
            raise BenchError("valgrind failed:\n" + done.stdout)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        found.append((int(re.search(r"^totals: (\d+)", text, re.M).group(1)),
                      *(count_calls(text, name) for name in calls)))
    if "ERROR" in done.stdout:
        raise BenchError("a statement failed:\n" + done.stdout)
    if profile is not None:
        shutil.copytree(kept, profile, dirs_exist_ok=True)
    shutil.rmtree(kept)
    return found


class Stopped:
    """A cluster without its server; that is there again after the context."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.out = os.path.join(cluster.dir, "callgrind.out")

    def __enter__(self):
        self.cluster.run([self.cluster.tool("pg_ctl"), "-D", self.cluster.data,
                          "-m", "fast", "-w", "stop"])
        return self

    def __exit__(self, *_):
        self.cluster.run([self.cluster.tool("pg_ctl"), "-D", self.cluster.data,
                          "-l", self.cluster.log, "-w", "start"])

    def count(self, statement, function="standard_ExecutorRun"):
        """Instructions that a function of the server takes for a statement, or
        for some, a line each; they are really done.  The library is loaded
        before: that takes ten million, nearly all to define its settings,
        which are no statement's.
        """
        cluster = self.cluster
        cmd = cluster.as_user + [
            "valgrind", "--tool=callgrind", "--callgrind-out-file=" + self.out,
            "--toggle-collect=" + function, cluster.tool("postgres"),
            "--single", "-D", cluster.data,
            "-c", "session_preload_libraries=fptree", "bench"]
        done = subprocess.run(
            cmd, env=cluster.env(), cwd=cluster.dir, universal_newlines=True,
            input=statement + "\n", stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        found = re.search(r"Collected\s*:\s*(\d+)", done.stdout)
        if done.returncode != 0 or not found:
            raise BenchError("valgrind failed:\n" + done.stdout)
        return int(found.group(1))

    def profile(self, statement, functions, function):
        """All that count() counts, and of it what each of some functions takes
        with the functions that it calls; by name, "" for all.
        """
        got = {"": self.count(statement, function)}
        done = self.cluster.run(["callgrind_annotate", "--inclusive=yes",
                                 "--threshold=100", self.out])
        for name in functions:
            found = re.search(r"^ *([0-9,]+) .*:%s(?:'\d+)? " % name, done,
                              re.M)
            got[name] = int(found.group(1).replace(",", "")) if found else 0
        return got
