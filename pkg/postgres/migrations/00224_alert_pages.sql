-- Alerts name the pages from which the visits came.

-- +goose Up

ALTER TABLE alerts
    ADD COLUMN pages text[] NOT NULL DEFAULT '{}'; -- of a link that is silent: its pages with the most visitors, as host and path
