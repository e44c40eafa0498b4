"""The results of a sweep, in an SQLite file: one row per plan. A plan is pending, claimed by a process, or done.

A finished plan is committed by whoever ran it before it asks for the next one; so whatever is killed, nothing finished
is lost and nothing finished runs again. Claims of processes that are gone are pending again.
"""

import json
import os
import sqlite3
import time

_SCHEMA = """
CREATE TABLE IF NOT EXISTS plans (
  id INTEGER PRIMARY KEY, options TEXT UNIQUE NOT NULL,
  owner INTEGER, started INTEGER,  -- process and its start, while it runs
  finished INTEGER NOT NULL DEFAULT 0, runs INTEGER NOT NULL DEFAULT 0,
  plan TEXT, error TEXT)
"""


class Store:
    """One connection to the file; each process opens its own."""

    def __init__(self, path):
        self.path = str(path)
        self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(_SCHEMA)

    def add(self, points):
        """Plans that the file does not have yet."""
        with self._writing():
            self._db.executemany("INSERT OR IGNORE INTO plans (options) VALUES (?)",
                                 [(json.dumps(point, sort_keys=True),) for point in points])

    def counts(self):
        """(finished, all)."""
        return self._db.execute("SELECT COALESCE(SUM(finished), 0), COUNT(*) FROM plans").fetchone()

    def claim(self):
        """(id, options) of a plan that is nobody's, now this process's; None when there is none."""
        with self._writing():
            row = self._db.execute("SELECT id, options FROM plans WHERE NOT finished AND owner IS NULL "
                                   "ORDER BY id LIMIT 1").fetchone()
            if row:
                self._db.execute("UPDATE plans SET owner = ?, started = ?, runs = runs + 1 WHERE id = ?",
                                 (os.getpid(), start_of(os.getpid()), row[0]))
        return row and (row[0], json.loads(row[1]))

    def finish(self, id_, plan=None, error=None):
        """Commits a result: a plan as a dict, or the reason why there is none."""
        with self._writing():
            self._db.execute("UPDATE plans SET finished = 1, owner = NULL, plan = ?, error = ? WHERE id = ?",
                             (plan and json.dumps(plan), error, id_))

    def release(self):
        """Makes claims of processes that are gone pending again."""
        owners = self._db.execute("SELECT DISTINCT owner, started FROM plans WHERE owner IS NOT NULL").fetchall()
        gone = [(pid, started) for pid, started in owners if start_of(pid) != started]
        with self._writing():
            self._db.executemany("UPDATE plans SET owner = NULL WHERE owner = ? AND started = ?", gone)

    def results(self):
        """(options, plan or None, error or None) of all finished plans, in the order of the sweep."""
        rows = self._db.execute("SELECT options, plan, error FROM plans WHERE finished ORDER BY id")
        return [(json.loads(options), plan and json.loads(plan), error) for options, plan, error in rows]

    def close(self):
        self._db.close()

    def _writing(self):
        return _Transaction(self._db)


class _Transaction:
    def __init__(self, db):
        self._db = db

    def __enter__(self):
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind, *_):
        self._db.execute("ROLLBACK" if kind else "COMMIT")


def start_of(pid):
    """When a process started, in ticks since the host did, so that a reused number is not taken for it; 0: gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return 0 if fields[0] == "Z" else int(fields[19])
    except FileNotFoundError:
        return 0 if os.path.isdir("/proc/self") else int(time.time())
