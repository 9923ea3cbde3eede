-- This created the projection visits, whose place 00015 gives to another one. A database that has it already loses it there.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
