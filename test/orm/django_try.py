"""Run the Django snippet of docs/adopting.md: python django_try.py FILE, libpq's variables say where.

FILE has the snippet.  Makes a project with an application, migrates, and prints the
indexes that the database then has.  Raises if the snippet, or what it makes, is not right.
"""

import importlib
import os
import shutil
import sys
import tempfile

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection

MODELS = """
from django.db import models
from django.db.models.functions import Lower
from shop.fptree import FptreeIndex, UniqueFptreeIndex


class Order(models.Model):
    customer = models.BigIntegerField()
    email = models.TextField()
    placed = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            FptreeIndex(fields=["customer"], name="o_customer"),
            FptreeIndex(fields=["-placed"], name="o_placed", fillfactor=70),
            FptreeIndex(Lower("email"), name="o_lower"),
            FptreeIndex(fields=["customer", "placed"], include=["email"],
                        condition=models.Q(customer__gt=10), name="o_part"),
            FptreeIndex(fields=["email"], opclasses=["text_pattern_ops"],
                        name="o_pattern"),
            UniqueFptreeIndex(fields=["email"], name="o_email")]
"""
ONLINE = """
from django.contrib.postgres.operations import AddIndexConcurrently
from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations
from shop.fptree import FptreeIndex, UniqueFptreeIndex


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("shop", "0001_initial")]
    operations = [
        AddIndexConcurrently("order", FptreeIndex(fields=["placed", "email"], name="o_online")),
        RemoveIndexConcurrently("order", "o_online"),
        AddIndexConcurrently("order", UniqueFptreeIndex(fields=["email", "id"], name="o_two")),
        RemoveIndexConcurrently("order", "o_two")]
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def project(directory, snippet):
    """An application with the snippet as a module of its own."""
    app = os.path.join(directory, "shop")
    os.makedirs(os.path.join(app, "migrations"))
    for name in ("__init__.py", "migrations/__init__.py"):
        write(os.path.join(app, name), "")
    shutil.copy(snippet, os.path.join(app, "fptree.py"))
    write(os.path.join(app, "models.py"), MODELS)
    sys.path.insert(0, directory)
    settings.configure(
        INSTALLED_APPS=["django.contrib.postgres", "shop"], USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={"default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ["PGDATABASE"], "HOST": os.environ["PGHOST"],
            "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"]}})
    django.setup()
    return app


def try_all(app):
    call_command("makemigrations", "shop", verbosity=0)
    write(os.path.join(app, "migrations", "0002_online.py"), ONLINE)
    importlib.invalidate_caches()
    call_command("migrate", verbosity=0)
    # exits with 1 if the models are not as migrated
    call_command("makemigrations", "shop", check=True, dry_run=True, verbosity=0)
    order = importlib.import_module("shop.models").Order
    connection.close()
    # the first statement of a session: ON CONFLICT DO NOTHING without a target
    rows = [order(customer=i, email="user%d" % (i // 2)) for i in range(100)]
    order.objects.bulk_create(rows, ignore_conflicts=True)
    assert order.objects.count() == 50, order.objects.count()
    assert order.objects.filter(customer__gte=90).count() == 5
    order.objects.filter(email="user7").update(customer=7)
    assert order.objects.get(email="user7").customer == 7
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = "
                       "'shop_order' AND indexname LIKE 'o\\_%' ORDER BY indexname")
        for (definition,) in cursor.fetchall():
            print(definition)


def main():
    with tempfile.TemporaryDirectory() as directory:
        try_all(project(directory, sys.argv[1]))


main()
