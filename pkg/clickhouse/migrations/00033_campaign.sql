-- A percent-escape in an address may stand for a byte that is no UTF-8, which no answer in JSON can have. Collectors store none any more;
-- the columns of rows that are stored get U+FFFD for it. Adding the expressions changes no rows, and the server rewrites the columns
-- while it stores and answers.

-- +goose Up
ALTER TABLE lodestone.link_views
    MODIFY COLUMN utm_source LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_source'))),
    MODIFY COLUMN utm_medium LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_medium'))),
    MODIFY COLUMN utm_campaign LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_campaign'))),
    MODIFY COLUMN utm_content LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_content'))),
    MODIFY COLUMN utm_term LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_term')))
    SETTINGS alter_sync = 0, mutations_sync = 0;
ALTER TABLE lodestone.link_views
    MATERIALIZE COLUMN utm_source, MATERIALIZE COLUMN utm_medium, MATERIALIZE COLUMN utm_campaign, MATERIALIZE COLUMN utm_content, MATERIALIZE COLUMN utm_term
    SETTINGS alter_sync = 0, mutations_sync = 0;

-- +goose Down
ALTER TABLE lodestone.link_views
    MODIFY COLUMN utm_source LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_source')),
    MODIFY COLUMN utm_medium LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_medium')),
    MODIFY COLUMN utm_campaign LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_campaign')),
    MODIFY COLUMN utm_content LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_content')),
    MODIFY COLUMN utm_term LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_term'))
    SETTINGS alter_sync = 0, mutations_sync = 0;
