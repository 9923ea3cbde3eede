-- Televisions are other devices, and Windows with a pen, which says Tablet PC, is a desktop: as the function lodestoneDevice has it.

-- +goose Up
ALTER TABLE lodestone.events MODIFY COLUMN device LowCardinality(String) ALIAS multiIf(
    bot != '', 'bot',
    user_agent = '', 'unknown',
    match(user_agent, '(?i)hbbtv|smart[-_ ]?tv|google ?tv|android ?tv|apple ?tv|[^a-z]tv[^a-z]|bravia|[^a-z]aft[a-z0-9]+[^a-z0-9]|netcast|web0s|vidaa|[^a-z]viera|roku|crkey|large screen|nettv'), 'other',
    match(user_agent, '(?i)ipad|tablet($|[^ ]| ($|[^p]))|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
    match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
    match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
    'other') SETTINGS alter_sync = 0, mutations_sync = 0;
ALTER TABLE lodestone.link_views MODIFY COLUMN device LowCardinality(String) ALIAS multiIf(
    bot != '', 'bot',
    user_agent = '', 'unknown',
    match(user_agent, '(?i)hbbtv|smart[-_ ]?tv|google ?tv|android ?tv|apple ?tv|[^a-z]tv[^a-z]|bravia|[^a-z]aft[a-z0-9]+[^a-z0-9]|netcast|web0s|vidaa|[^a-z]viera|roku|crkey|large screen|nettv'), 'other',
    match(user_agent, '(?i)ipad|tablet($|[^ ]| ($|[^p]))|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
    match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
    match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
    'other') SETTINGS alter_sync = 0, mutations_sync = 0;

-- +goose Down
ALTER TABLE lodestone.events MODIFY COLUMN device LowCardinality(String) ALIAS multiIf(
    bot != '', 'bot',
    user_agent = '', 'unknown',
    match(user_agent, '(?i)ipad|tablet|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
    match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
    match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
    'other') SETTINGS alter_sync = 0, mutations_sync = 0;
ALTER TABLE lodestone.link_views MODIFY COLUMN device LowCardinality(String) ALIAS multiIf(
    bot != '', 'bot',
    user_agent = '', 'unknown',
    match(user_agent, '(?i)ipad|tablet|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
    match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
    match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
    'other') SETTINGS alter_sync = 0, mutations_sync = 0;
