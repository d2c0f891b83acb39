"""The database: sessions, tables, migrations, and the files beside it."""
