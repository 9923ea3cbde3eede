#!/bin/sh
# Run once by the image, when the cluster is created: Lodestone's role, which is no superuser, so that
# row-level security holds for it, and its database.
set -eu
psql --no-psqlrc --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 \
  --set password="$(cat /run/secrets/postgres-lodestone-password)" <<'SQL'
-- The role of accounts belongs to the cluster: a dump of the database has its rights and not the role.
CREATE ROLE lodestone_account NOLOGIN;
CREATE ROLE lodestone LOGIN CREATEROLE PASSWORD :'password';
GRANT lodestone_account TO lodestone;
CREATE DATABASE lodestone OWNER lodestone;
SQL
