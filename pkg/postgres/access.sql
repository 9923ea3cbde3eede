-- What accounts may reach: the role lodestone_account, the policies that let it see the rows of one account, and its rights. `lodestone
-- migrate` runs this each time, since the role belongs to the cluster and no dump of the database has it: a dump that is restored where
-- the role is missing loses every policy and every right. It locks a table only if something is missing.

DO $$
DECLARE
    object record;
BEGIN
    BEGIN
        CREATE ROLE lodestone_account NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- another database of the cluster made it
    END;
    BEGIN
        -- Since PostgreSQL 16 a member may take the role only if the grant says so.
        IF NOT pg_has_role(current_user, 'lodestone_account',
            CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END)
        THEN
            EXECUTE format('GRANT lodestone_account TO %I', current_user);
        END IF;
    EXCEPTION WHEN unique_violation OR internal_error THEN
        NULL; -- another database of the cluster granted it at the same time
    END;

    FOR object IN
        SELECT c.relname AS name, c.relrowsecurity AS secured,
            EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'account'
                AND p.polroles = ARRAY['lodestone_account'::regrole::oid]) AS has_policy,
            CASE c.relname
                WHEN 'accounts' THEN 'id = current_setting(''lodestone.account_id'')::uuid'
                WHEN 'users' THEN 'EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id)'
                WHEN 'river_job' THEN 'args ->> ''account_id'' = current_setting(''lodestone.account_id'')'
                ELSE 'account_id = current_setting(''lodestone.account_id'')::uuid'
            END AS rule
        FROM pg_class c
        WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
            AND (c.relname IN ('accounts', 'users', 'river_job')
                OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND NOT a.attisdropped))
    LOOP
        IF NOT object.secured THEN
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', object.name);
        END IF;
        IF NOT object.has_policy THEN
            EXECUTE format('CREATE POLICY account ON %I TO lodestone_account USING (%s) WITH CHECK (%s)', object.name, object.rule, object.rule);
        END IF;
    END LOOP;
END
$$;

GRANT SELECT, UPDATE (name, brand_color, brand_font, language, timezone, open_statuses, closed_statuses, notify, notify_email, notify_confirmed_at, digest_until, notices_since, notices_sent, reading_notices, weekly_report, reported_until, alert_notices, quiet_from, quiet_until, left_out_suspects) ON accounts TO lodestone_account;
GRANT SELECT (id, account_id, name, prefix, scopes, created_at, last_used_at, revoked_at, created_by, expires_at), INSERT, UPDATE (name, revoked_at)
    ON api_keys TO lodestone_account;
GRANT SELECT (account_id, operation, key, claimed_at) ON idempotency_keys TO lodestone_account;
GRANT SELECT, INSERT, UPDATE, DELETE ON lead_magnets, lead_magnet_files, lead_magnet_file_chunks, pictures, generic_links, submissions,
    verifications, access_links, sessions, downloads, webhook_endpoints, utm_templates, profiles TO lodestone_account;
GRANT SELECT (id, account_id, endpoint_id, created_at, expires_at), INSERT, UPDATE (expires_at), DELETE ON webhook_secrets TO lodestone_account;
GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO lodestone_account;
GRANT SELECT, INSERT, UPDATE (kind, args), DELETE ON river_job TO lodestone_account;
GRANT SELECT (id, email, email_key, created_at) ON users TO lodestone_account;
GRANT SELECT, UPDATE (role, last_seen_at, weekly_report), DELETE ON memberships TO lodestone_account;
GRANT SELECT (id, account_id, email, email_key, role, created_at, expires_at), INSERT, UPDATE (email, role, secret_hash, created_at, expires_at), DELETE
    ON invitations TO lodestone_account;
GRANT SELECT (id, account_id, user_id, key_id, method, user_agent, started_at, last_active_at, ended_at), INSERT, UPDATE (ended_at)
    ON user_sessions TO lodestone_account;
GRANT SELECT, INSERT ON audit_log TO lodestone_account;
GRANT SELECT (id, account_id, lead_magnet_id, name, has_password, expires_at, view_count, last_viewed_at, created_at), INSERT, DELETE
    ON shares TO lodestone_account;
GRANT SELECT, INSERT ON file_objects, erasures, erased_links, suspects TO lodestone_account;
GRANT SELECT, DELETE ON deleted_links TO lodestone_account;
GRANT SELECT, INSERT, UPDATE ON embeds TO lodestone_account;
GRANT SELECT ON access_link_counts, generic_link_counts, counted_access_links, counted_submissions, counted_generic_links TO lodestone_account;
GRANT SELECT (id, account_id, expires_at) ON report_keys TO lodestone_account;
GRANT SELECT, INSERT, DELETE ON page_pictures TO lodestone_account;
GRANT SELECT, UPDATE (send, settled_at) ON reading_notices TO lodestone_account;
GRANT SELECT ON event_usage TO lodestone_account;
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_rules, alerts TO lodestone_account;
GRANT USAGE ON SEQUENCE river_job_id_seq TO lodestone_account;
GRANT SELECT, INSERT, UPDATE (queued_at, sent_at, reminder_queued_at, reminded_at, bounced_at, failure) ON recipients TO lodestone_account;
GRANT SELECT ON recipient_states TO lodestone_account;
GRANT SELECT, INSERT ON unsubscribes TO lodestone_account;
GRANT SELECT, INSERT, UPDATE, DELETE ON reminder_rules TO lodestone_account;
GRANT SELECT, INSERT, UPDATE (digest) ON agreements TO lodestone_account;
GRANT SELECT, INSERT ON acceptances TO lodestone_account;
GRANT SELECT, INSERT, DELETE, UPDATE (parameters, created_at) ON views TO lodestone_account;
