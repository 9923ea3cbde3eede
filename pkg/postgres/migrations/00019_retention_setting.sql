-- For how long events are kept: what every process goes by, whatever its own settings say.

-- +goose Up
CREATE TABLE retention_setting (
    single      boolean PRIMARY KEY DEFAULT true CHECK (single),
    months      integer NOT NULL CHECK (months >= 0), -- 0 keeps everything
    next_months integer CHECK (next_months > 0),      -- replaces months at next_at: a shorter time waits
    next_at     timestamptz(3),
    changed_at  timestamptz(3) NOT NULL DEFAULT now(),
    CHECK ((next_months IS NULL) = (next_at IS NULL))
);

-- +goose Down
DROP TABLE retention_setting;
