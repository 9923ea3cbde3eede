-- Names of views can name a person.

-- +goose Up

-- Statistics hold values of rows, and those of an emptied table stay.
ALTER TABLE views ALTER COLUMN name SET STATISTICS 0;
