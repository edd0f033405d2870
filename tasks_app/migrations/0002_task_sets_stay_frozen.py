"""A frozen task set is immutable in the database itself: triggers refuse what no code path should try.

Written by hand and kept apart from 0001, which is generated. `created_by` may still be set to null by the database when
that account is deleted.
"""

from django.db import migrations

SAYS = "a frozen task set can not be changed; make a new version"
SQLITE = {
    "task_set_frozen_update": "BEFORE UPDATE OF name, version, description, digest, frozen_at, created_at "
    "ON tasks_app_taskset WHEN OLD.frozen_at IS NOT NULL",
    "task_set_frozen_delete": "BEFORE DELETE ON tasks_app_taskset WHEN OLD.frozen_at IS NOT NULL",
    "task_set_member_frozen_insert": "BEFORE INSERT ON tasks_app_tasksetmember WHEN "
    "(SELECT frozen_at FROM tasks_app_taskset WHERE id = NEW.task_set_id) IS NOT NULL",
    "task_set_member_frozen_update": "BEFORE UPDATE ON tasks_app_tasksetmember WHEN "
    "(SELECT count(*) FROM tasks_app_taskset WHERE id IN (OLD.task_set_id, NEW.task_set_id) AND frozen_at IS NOT NULL) > 0",
    "task_set_member_frozen_delete": "BEFORE DELETE ON tasks_app_tasksetmember WHEN "
    "(SELECT frozen_at FROM tasks_app_taskset WHERE id = OLD.task_set_id) IS NOT NULL",
}
POSTGRESQL = f"""
CREATE FUNCTION tasks_app_set_frozen() RETURNS trigger AS $$ BEGIN
  IF OLD.frozen_at IS NOT NULL THEN RAISE EXCEPTION '{SAYS}' USING ERRCODE = 'integrity_constraint_violation'; END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER task_set_frozen BEFORE UPDATE OF name, version, description, digest, frozen_at, created_at OR DELETE ON tasks_app_taskset
  FOR EACH ROW EXECUTE FUNCTION tasks_app_set_frozen();
CREATE FUNCTION tasks_app_member_frozen() RETURNS trigger AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM tasks_app_taskset WHERE frozen_at IS NOT NULL AND (
      (TG_OP <> 'INSERT' AND id = OLD.task_set_id) OR (TG_OP <> 'DELETE' AND id = NEW.task_set_id)))
  THEN RAISE EXCEPTION '{SAYS}' USING ERRCODE = 'integrity_constraint_violation'; END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER task_set_member_frozen BEFORE INSERT OR UPDATE OR DELETE ON tasks_app_tasksetmember
  FOR EACH ROW EXECUTE FUNCTION tasks_app_member_frozen();
"""
POSTGRESQL_BACK = """
DROP TRIGGER task_set_frozen ON tasks_app_taskset;
DROP TRIGGER task_set_member_frozen ON tasks_app_tasksetmember;
DROP FUNCTION tasks_app_set_frozen();
DROP FUNCTION tasks_app_member_frozen();
"""


def forwards(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL, params=None)
        return
    for name, when in SQLITE.items():
        schema_editor.execute(f"CREATE TRIGGER {name} {when} BEGIN SELECT RAISE(ABORT, '{SAYS}'); END", params=None)


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_BACK, params=None)
        return
    for name in SQLITE:
        schema_editor.execute(f"DROP TRIGGER {name}", params=None)


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0001_initial")]
    operations = [migrations.RunPython(forwards, backwards)]
