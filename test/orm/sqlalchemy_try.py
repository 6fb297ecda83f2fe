"""Run the SQLAlchemy snippet of docs/adopting.md: python sqlalchemy_try.py FILE, libpq's variables say where.

FILE has the snippet, which defines the table "orders".  Creates it and prints the indexes that the
database then has, as SQLAlchemy sees them.  Raises if they are not right.
"""

import importlib.util
import sys

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert


def engine():
    """By whichever driver there is; libpq reads its variables."""
    for driver in ("psycopg", "psycopg2"):
        if importlib.util.find_spec(driver):
            return sa.create_engine("postgresql+%s://" % driver)
    raise SystemExit("no driver")


def main():
    names = {}
    with open(sys.argv[1], encoding="utf-8") as f:
        exec(compile(f.read(), sys.argv[1], "exec"), names)  # pylint: disable=exec-used
    orders = names["orders"]
    db = engine()
    online = [i for i in orders.indexes
              if i.dialect_options["postgresql"]["concurrently"]]
    assert online, "no index is to be built concurrently"
    for index in online:
        orders.indexes.discard(index)
    orders.metadata.create_all(db)
    # in no transaction
    with db.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
        for index in online:
            index.create(c)
    db.dispose()
    with db.begin() as c:
        # the first statement of a session: DO NOTHING without a target
        for i in range(10):
            c.execute(insert(orders).values(id=i, customer=i, email="u%d" % (i // 2))
                      .on_conflict_do_nothing())
        assert c.execute(sa.select(sa.func.count()).select_from(orders)).scalar() == 5
        c.execute(insert(orders).values(id=99, customer=1, email="u1").on_conflict_do_update(
            index_elements=["email"], set_={"customer": 42}))
        assert c.execute(sa.select(orders.c.customer).where(orders.c.email == "u1")).scalar() == 42
    again = sa.Table("orders", sa.MetaData(), autoload_with=db)
    for index in sorted(again.indexes, key=lambda i: i.name):
        print(index.name, index.unique, index.dialect_options["postgresql"]["using"],
              dict(index.dialect_options["postgresql"]["with"] or {}))


main()
