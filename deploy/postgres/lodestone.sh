#!/bin/sh
# Run once by the image, when the cluster is made: Lodestone's role, which is no superuser, so that
# row-level security holds for it, and its database.
set -eu
psql --no-psqlrc --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 \
  --set password="$(cat /run/secrets/postgres-lodestone-password)" <<'SQL'
CREATE ROLE lodestone LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE lodestone OWNER lodestone;
SQL
