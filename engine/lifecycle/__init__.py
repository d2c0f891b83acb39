"""Looking after an installation for years: backups and what is made of them; removing documents, and restoring them."""
