// Generated from the description of the API by `make clients`. Do not edit.

export interface paths {
    "/api/v1/access-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List access links, newest first */
        get: operations["list-access-links"];
        put?: never;
        /**
         * Create an access link
         * @description The link is active immediately. The lead magnet must be active.
         */
        post: operations["create-access-link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/access-links/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an access link */
        get: operations["get-access-link"];
        put?: never;
        post?: never;
        /**
         * Delete an access link
         * @description The link no longer counts in the summary of its address. Recorded events stay.
         */
        delete: operations["delete-access-link"];
        options?: never;
        head?: never;
        /**
         * Change an access link
         * @description Omitted fields keep their values; null clears max_views and expires_at.
         */
        patch: operations["update-access-link"];
        trace?: never;
    };
    "/api/v1/access-links/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a URL that shows the document of an access link without counting
         * @description For owners who preview what a recipient sees: no session, view or download is counted or recorded. The URL is the link's own, and opens it regardless of its limits.
         */
        post: operations["preview-access-link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/access-links/{id}/qr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the QR code of an access link
         * @description The code holds the link's URL: who scans it opens the document as the recipient. It has a quiet zone, and error correction of at least level M.
         */
        get: operations["get-access-link-qr"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the account that the key belongs to */
        get: operations["get-account"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the account that the key belongs to
         * @description Omitted fields keep their values. Only the operator can change the plan.
         */
        patch: operations["update-account"];
        trace?: never;
    };
    "/api/v1/account/logo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the account's logo */
        get: operations["get-logo"];
        /**
         * Set the account's logo
         * @description The pages that visitors see show the logo. The body is the picture itself (PNG, JPEG, WebP, or the first image of a GIF; at most 5 MiB), or a form (multipart/form-data) with the picture in the part named file. The picture is re-encoded with at most 640 × 240 pixels, and metadata of the file is removed. Transparency is preserved.
         */
        put: operations["upload-logo"];
        post?: never;
        /** Remove the account's logo */
        delete: operations["delete-logo"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List analytics events
         * @description Newest first. Events must match all given filters. An unknown access link or lead magnet has no events. To read a long list, follow pagination.next_cursor with the same filters. Every page then costs the same, and none of the events that were listed at the start is skipped or repeated, even if new events arrive. Events of bots are included unless bot=false.
         */
        get: operations["list-analytics-events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Summarise one email address
         * @description Covers all lead magnets of the account. For an address without access links, numbers are zero and times are null. Bots are excluded.
         */
        get: operations["get-email-summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export analytics events
         * @description Every event that matches all given filters, as a file, from one state of the data. The order is that of the storage. Events of bots are included unless bot=false; bot is the name of the rule that recognised one. If an error occurs after the file has begun, the connection is broken, so that a part of a file does not look complete. In CSV, a text that begins with =, +, -, @, a tab or a carriage return gets an apostrophe before it, so that no spreadsheet takes it for a formula.
         */
        get: operations["export-analytics-events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/funnel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how many get how far
         * @description From views of landing pages to the end of the document. Views and submissions of the period count, and what the people who submitted did until as_of. Bots are excluded. The ETag stays the same as long as the numbers do.
         */
        get: operations["get-funnel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream analytics events
         * @description Server-sent events: each event of people, or with bot=true of bots, is sent once, about as soon as it is in the list of events, and has the form that it has there. A message is its id, its type, and the event as data, in this order; a message without data tells the id with which the stream begins. After a lost connection, send the id of the last message as Last-Event-ID. A comment each 15 seconds shows that the connection works. An account may have 20 streams. A client that does not keep up is disconnected. The stream ends within a minute after its key does. Pages of the dashboard send the cookie of their session instead of a key.
         */
        get: operations["stream-analytics-events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/now": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who reads now
         * @description Readers who were on a page in the last minutes. The page tells of a visit when it ends, so the page is the one that they just left. Bots are excluded.
         */
        get: operations["get-current-readers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how each page is read
         * @description How far readers get in one version of a document, and how long they stay on each page. Bots are excluded; excluded_bots counts their page views. The ETag stays the same as long as the numbers do.
         */
        get: operations["get-page-report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for metrics
         * @description Exact counts and rates over a range, by calendar intervals of a time zone and by up to two dimensions. A metric and a dimension that cannot be combined are refused. A batch of questions is answered from one state of the data.
         */
        post: operations["query-analytics"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/readers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the people who read
         * @description One row a person with at least one page view: the person behind an address, with all its access links. Numbers count the events that match the filters. Bots are excluded; excluded_bots counts their events. Follow pagination.next_cursor with the same filters and sort: all pages of one walk are of the state of the data at its start, so that each person is listed once. The ETag stays the same as long as the list does.
         */
        get: operations["list-readers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/readers/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the people who read
         * @description Every person of the list of readers with these filters, in its order, as a file. Numbers are from one state of the data, and so are addresses. A source is the one that the person has when it is read.
         */
        get: operations["export-readers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/readers/{access_link_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the story of a reader
         * @description All that is known of the person behind an access link: totals and score, access links, submissions with consent, and each session with its page visits and downloads. Of an access link that was deleted, its events are the story. Bots are excluded; excluded_bots counts their events.
         */
        get: operations["get-reader"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report which readers return
         * @description Readers of a lead magnet by when they first read, and how many of them read again in each interval after. Bots are excluded.
         */
        get: operations["get-retention"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/analytics/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe metrics and dimensions
         * @description What POST /api/v1/analytics/query can be asked, and what can be combined, for tools that build questions.
         */
        get: operations["get-analytics-schema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what was done to the account, newest first
         * @description Every change, every export of personal data and every sign-in, with who did it. Entries cannot be changed or deleted.
         */
        get: operations["list-audit-log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/chat-channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the chat channels, newest first */
        get: operations["list-chat-channels"];
        put?: never;
        /**
         * Add a chat channel
         * @description The account's notices are sent to it as well as by mail, when the account's settings say that they are sent.
         */
        post: operations["create-chat-channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/chat-channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a chat channel */
        get: operations["get-chat-channel"];
        put?: never;
        post?: never;
        /** Delete a chat channel */
        delete: operations["delete-chat-channel"];
        options?: never;
        head?: never;
        /**
         * Change a chat channel
         * @description Omitted fields keep their values.
         */
        patch: operations["update-chat-channel"];
        trace?: never;
    };
    "/api/v1/chat-channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message to a chat channel
         * @description The answer says how it went.
         */
        post: operations["test-chat-channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/erasures/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an erasure
         * @description What was erased, when, and until when records and backups hold it, with a receipt: a JSON Web Signature (EdDSA) of the other fields. The keys that verify it are at /.well-known/lodestone-receipt-keys.json, for everyone.
         */
        get: operations["get-erasure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generic-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List generic links, newest or oldest first */
        get: operations["list-generic-links"];
        put?: never;
        /**
         * Create a generic link
         * @description The link is active immediately. The lead magnet must be active.
         */
        post: operations["create-generic-link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generic-links/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a generic link with its lead magnet */
        get: operations["get-generic-link"];
        put?: never;
        post?: never;
        /**
         * Delete a generic link and its submissions
         * @description Access links that were created through it stay.
         */
        delete: operations["delete-generic-link"];
        options?: never;
        head?: never;
        /**
         * Change a generic link
         * @description Omitted fields keep their values; null clears texts and URLs.
         */
        patch: operations["update-generic-link"];
        trace?: never;
    };
    "/api/v1/generic-links/{id}/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the HTML that shows the form on your own page, and whether it works
         * @description Paste the value of script into a page whose origin is among allowed_origins. last_seen_at then tells when the page last loaded the form; last_refused_origin names a page whose origin is missing.
         */
        get: operations["get-generic-link-embed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generic-links/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a URL that shows the page of a generic link without counting
         * @description For owners who preview their own page: views and forms are neither counted nor stored. The URL works for an hour.
         */
        post: operations["preview-generic-link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generic-links/{id}/qr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the QR code of a generic link
         * @description The code holds the link's URL and the campaign parameters of the request, so that the visits of a poster or a slide count under their own source. It has a quiet zone, and as much error correction as fits its size: at least level M.
         */
        get: operations["get-generic-link-qr"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generic-links/{id}/submissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the submissions of a generic link, newest or oldest first */
        get: operations["list-submissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generic-links/{id}/submissions/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the submissions of a generic link
         * @description All submissions of the period as a file, newest first, from one state of the data. If an error occurs after the file has begun, the connection is broken, so that a part of a file does not look complete. In CSV, a text that begins with =, +, -, @, a tab or a carriage return gets an apostrophe before it, so that no spreadsheet takes it for a formula.
         */
        get: operations["export-submissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generic-links/{id}/thumbnail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the thumbnail of a generic link to an uploaded picture
         * @description The page shows the picture instead of the document's first page, and thumbnail_url is its address. The body is the picture itself (PNG, JPEG, WebP, or the first image of a GIF; at most 5 MiB), or a form (multipart/form-data) with the picture in the part named file. The picture is re-encoded with at most 960 × 1600 pixels, and metadata of the file is removed.
         */
        put: operations["upload-generic-link-thumbnail"];
        post?: never;
        /**
         * Remove the thumbnail of a generic link
         * @description The page shows the document's first page again. The request succeeds even if there is no thumbnail.
         */
        delete: operations["delete-generic-link-thumbnail"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generic-links/{id}/tracking": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the HTML that counts views of your own page as a link's
         * @description Paste the value of script into your own landing page. Its views then count in the link's view_count.
         */
        get: operations["get-generic-link-tracking"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the invitations that were not accepted, newest first */
        get: operations["list-invitations"];
        put?: never;
        /**
         * Invite someone to the account
         * @description A mail with a link goes to the address. It works once, for seven days. Inviting an address again sends another mail, ends the link of the first one, and keeps the id. The key needs every scope of the role: all of them for an owner; read, write, leads and webhooks for an editor; read and leads for an analyst.
         */
        post: operations["create-invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an invitation */
        get: operations["get-invitation"];
        put?: never;
        post?: never;
        /** Take an invitation back */
        delete: operations["delete-invitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the working API keys, newest first */
        get: operations["list-keys"];
        put?: never;
        /**
         * Create an API key
         * @description The new key can only have scopes of the key that creates it. It expires no later than that key, and is revoked with it.
         */
        post: operations["create-key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a working API key, without the key itself */
        get: operations["get-key"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Within a second every process refuses the key. The same holds for every key that was created with it, directly or indirectly.
         */
        delete: operations["revoke-key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lead-magnets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List lead magnets, newest first */
        get: operations["list-lead-magnets"];
        put?: never;
        /** Create a lead magnet */
        post: operations["create-lead-magnet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lead-magnets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a lead magnet */
        get: operations["get-lead-magnet"];
        put?: never;
        post?: never;
        /**
         * Delete a lead magnet and its file
         * @description For a lead magnet with links the answer is 409, unless cascade=true is given, which also deletes its generic links, their submissions and its access links. Recorded events stay.
         */
        delete: operations["delete-lead-magnet"];
        options?: never;
        head?: never;
        /**
         * Change a lead magnet
         * @description Omitted fields keep their values; null clears the description.
         */
        patch: operations["update-lead-magnet"];
        trace?: never;
    };
    "/api/v1/lead-magnets/{id}/bulk-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create access links for many addresses
         * @description Creates one link for each address, in the same order. If one link cannot be created, none is.
         */
        post: operations["create-access-links"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lead-magnets/{id}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download the file of a lead magnet */
        get: operations["download-lead-magnet-file"];
        /**
         * Set the file of a lead magnet
         * @description The body is either the PDF itself (application/pdf), with its name in Content-Disposition or the parameter file_name, or a form (multipart/form-data) with the PDF in the part named file. Each upload is a new version of the file.
         */
        put: operations["upload-lead-magnet-file"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lead-magnets/{id}/pages/{page}/picture": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a small picture of a page of a lead magnet
         * @description The picture is 240 pixels wide. It is made when it is first asked for, which takes a moment, for the first 300 pages of versions that are still stored.
         */
        get: operations["get-page-picture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lead-magnets/{id}/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the links that show the statistics of a lead magnet, newest first */
        get: operations["list-shares"];
        put?: never;
        /**
         * Create a link that shows the statistics of a lead magnet
         * @description Whoever has the link sees the funnel, how far readers come, and readers by day; nothing about single people. The URL is shown only once: the token in it is stored as a hash.
         */
        post: operations["create-share"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lead-magnets/{id}/shares/{share_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a link that shows statistics
         * @description Its page is gone at once.
         */
        delete: operations["revoke-share"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lead-magnets/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of the file of a lead magnet, newest first */
        get: operations["list-lead-magnet-versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/people/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase everything that is stored about an address
         * @description Removes the submissions, access links, sessions and mails of the address, what messages to webhooks say about it, and answers that are kept for repeated requests. Events stay, with their page and time, and lose everything else within seven days; records in Kafka go with their retention time. What was delivered to webhooks and chat channels is with its receiver. The answer has a receipt, and get-erasure has one again when the events are blank. An address about which nothing is stored is no error. It cannot be undone.
         */
        post: operations["erase-person"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/people/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export everything that is stored about an address
         * @description One document with what the account stores about an address: submissions, access links with their sessions, downloads and events, mails, notices, messages to chat channels and webhooks, forms of the dashboard that wait, answers and keys that are kept for repeated requests, and entries of the audit log. Secrets that open documents or confirm addresses are left out, except where messages to webhooks have them. Nothing is stored about an address of which all lists are empty.
         */
        post: operations["export-person"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions of the dashboard, newest first
         * @description A person has their own sessions in the account, an API key those that it signed in. With the scope people, everyone's are there.
         */
        get: operations["list-sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session of the dashboard
         * @description A person has their own sessions in the account, an API key those that it signed in. With the scope people, everyone's are there. Within a second every process refuses the session.
         */
        delete: operations["end-session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a submission
         * @description The link's submission_count goes down by one, and messages to webhooks about the submission lose their bodies. Access links that were created for it stay, without a submission_id. The same address can submit again.
         */
        delete: operations["delete-submission"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the people of the account, newest first */
        get: operations["list-users"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one of the account's people */
        get: operations["get-user"];
        put?: never;
        post?: never;
        /**
         * Remove a person from the account
         * @description Their sessions end within a second. API keys that they created go on working. The last owner cannot be removed.
         */
        delete: operations["remove-user"];
        options?: never;
        head?: never;
        /**
         * Change the role of a person
         * @description It takes effect within a second. The last owner stays one. The key needs every scope of the role: all of them for an owner; read, write, leads and webhooks for an editor; read and leads for an analyst.
         */
        patch: operations["update-user"];
        trace?: never;
    };
    "/api/v1/users/{id}/weekly-report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get whether a person gets the weekly report
         * @description Each person has this setting for themselves. With the scope people, everyone's is there.
         */
        get: operations["get-weekly-report"];
        /**
         * Set whether a person gets the weekly report
         * @description Each person has this setting for themselves. With the scope people, everyone's is there.
         */
        put: operations["set-weekly-report"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/utm-templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the saved campaign parameters, newest first
         * @description With generic_link_id, each has the URL of that link with its parameters.
         */
        get: operations["list-utm-templates"];
        put?: never;
        /**
         * Save campaign parameters
         * @description A template has at least one parameter.
         */
        post: operations["create-utm-template"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/utm-templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get saved campaign parameters
         * @description With generic_link_id, url is the URL of that link with the parameters.
         */
        get: operations["get-utm-template"];
        put?: never;
        post?: never;
        /** Delete saved campaign parameters */
        delete: operations["delete-utm-template"];
        options?: never;
        head?: never;
        /**
         * Change saved campaign parameters
         * @description Omitted fields keep their values; null removes a parameter. Addresses that carry the old values keep working.
         */
        patch: operations["update-utm-template"];
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks, newest first */
        get: operations["list-webhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description The URL must be on the public internet and begin with https, unless the operator has allowed its network. The answer contains the secret that messages are signed with.
         */
        post: operations["create-webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook */
        get: operations["get-webhook"];
        put?: never;
        post?: never;
        /** Delete a webhook and its log */
        delete: operations["delete-webhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description Omitted fields keep their values; null clears description. While the webhook is not active, no messages are sent to it or stored for it. Pending messages are given up; they can be replayed later.
         */
        patch: operations["update-webhook"];
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the messages to a webhook, newest first */
        get: operations["list-webhook-deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one message to a webhook */
        get: operations["get-webhook-delivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message again
         * @description Sends the same message with the same webhook-id, whatever its state. It is retried as often as a new message.
         */
        post: operations["replay-webhook-delivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a new secret for a webhook
         * @description Messages are signed with the new secret and, for keep_previous_hours, also with the previous ones, so that receivers have time to change. After a leak, set keep_previous_hours to 0.
         */
        post: operations["rotate-webhook-secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message to a webhook
         * @description The message has the type webhook.test. It is sent immediately, even if the webhook is not active, and is not retried. The answer contains the result.
         */
        post: operations["test-webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        APIKey: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Id of the key that created it; null if the operator or a person created it.
             */
            created_by: string | null;
            /**
             * Format: date-time
             * @description When it expires; null for never.
             */
            expires_at: string | null;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * Format: date-time
             * @description When it was last used, accurate to some seconds.
             */
            last_used_at: string | null;
            /** @description Purpose of the key. */
            name: string;
            /** @description First characters of the key, to recognise it. */
            prefix: string;
            /** @description Scopes of the key. */
            scopes: ("read" | "write" | "leads" | "webhooks" | "keys" | "people" | "people:privacy")[];
        };
        AccessLink: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Email address of the recipient; null for a key without the scope leads. */
            email: string | null;
            /**
             * Format: date-time
             * @description When it expires; null for never.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was first viewed.
             */
            first_viewed_at: string | null;
            /**
             * Format: uuid
             * @description Generic link that it came from.
             */
            generic_link_id: string | null;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /** @description Whether it can be opened. */
            is_active: boolean;
            /**
             * Format: date-time
             * @description When it was last viewed.
             */
            last_viewed_at: string | null;
            /**
             * Format: uuid
             * @description Lead magnet that the link opens.
             */
            lead_magnet_id: string;
            /**
             * Format: int32
             * @description How many times it can be opened; null for no limit.
             */
            max_views: number | null;
            /**
             * @description How the URL was handed out: by the API (api), only in a mail to the address (mail), or in the browser that submitted a form without verification (form).
             * @enum {string}
             */
            source: "api" | "mail" | "form";
            /**
             * Format: uuid
             * @description Submission that it was created for.
             */
            submission_id: string | null;
            /** @description Token with which events of this link are sent to the collector; null for a key without the scope write. */
            tracking_token: string | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
            /** @description Full URL. Anyone with it can open the document. Null for a key without the scope leads, and if the key that it was encrypted with is lost. */
            url: string | null;
            /**
             * Format: int64
             * @description Views so far.
             */
            view_count: number;
        };
        Account: {
            /** @description Accent colour of the account's pages, as #rrggbb; null for the default. If its contrast is too low, the pages darken or lighten it. */
            brand_color: string | null;
            /**
             * @description Typeface of the account's pages: that of the visitor's system, or Inter, which the pages load.
             * @enum {string}
             */
            brand_font: "system" | "inter";
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * @description Language of the account's pages and mails; null for that of each visitor, and English for the owner's mails.
             * @enum {string|null}
             */
            language: "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "pl" | null;
            /** @description Limits of the account. */
            limits: components["schemas"]["Allowance"];
            /** @description Name of the account. */
            name: string;
            /**
             * @description When mails about leads are sent: for each lead, once a day (after 05:00 in the account's time zone, about the previous day), or never. Mails about disabled webhooks are sent immediately, unless it is none.
             * @enum {string}
             */
            notify: "each" | "daily" | "none";
            /** @description Address for mails about new leads, readers, weeks and disabled webhooks; null if no mails are sent. */
            notify_email: string | null;
            /** @description Whether the reader of notify_email agreed to get mails. Until then, only the mail that asks is sent to it. */
            notify_email_confirmed: boolean;
            /**
             * @description Plan of the account.
             * @enum {string}
             */
            plan: "free" | "pro" | "team";
            /**
             * @description When mails about readers are sent, who opened a document for the first time, finished it, downloaded it or came back after a day: when their visit is over, once a day, or never. A generic link can have a setting of its own.
             * @enum {string}
             */
            reading_notices: "each" | "daily" | "none";
            /** @description Time zone of the account, as its IANA name. Mails to the owner give times in it. */
            timezone: string;
            /** @description Usage of the account. */
            usage: components["schemas"]["Usage"];
            /** @description Whether a report about the past week is sent to notify_email on Mondays, after 07:00 in the account's time zone. If the address is that of one of the account's people, their own setting decides. */
            weekly_report: boolean;
        };
        Allowance: {
            /**
             * Format: int64
             * @description Number of access links above which keys cannot create more; null for no limit.
             */
            access_links: number | null;
            /**
             * Format: int64
             * @description Events that the plan allows per calendar month (UTC); null for no limit.
             */
            events_per_month: number | null;
            /**
             * Format: int64
             * @description Generic links that the plan allows; null for no limit.
             */
            generic_links: number | null;
            /**
             * Format: int64
             * @description Working API keys.
             */
            keys: number;
            /**
             * Format: int64
             * @description Lead magnets that the plan allows; null for no limit.
             */
            lead_magnets: number | null;
            /**
             * Format: int64
             * @description Maximum total size of the files in bytes; null for no limit.
             */
            stored_bytes: number | null;
        };
        Answers: {
            data: components["schemas"]["QuestionAnswer"][];
        };
        Attempt: {
            /**
             * Format: date-time
             * @description When the attempt began.
             */
            attempted_at: string;
            /** @description Why it failed; null if it succeeded. */
            error: string | null;
            /**
             * Format: int64
             * @description Duration of the attempt in milliseconds.
             */
            latency_ms: number;
            /** @description Beginning of the answer's body; null if there was no answer. */
            response: string | null;
            /**
             * Format: int64
             * @description HTTP status of the answer; null if there was none.
             */
            status_code: number | null;
            /** @description URL that the message was sent to. */
            url: string;
        };
        Batch: {
            /** @description The links, in the order of the addresses. */
            data: components["schemas"]["AccessLink"][];
        };
        ChangedAccessLink: {
            /**
             * Format: date-time
             * @description When it expires (ISO 8601, in the future); null for never.
             */
            expires_at?: string | null;
            /** @description Whether it can be opened. */
            is_active?: boolean;
            /**
             * Format: int32
             * @description How many times it can be opened; null for no limit.
             */
            max_views?: number | null;
        };
        ChangedAccount: {
            /** @description Accent colour of the account's pages; null for the default. */
            brand_color?: string | null;
            /**
             * @description Typeface of the account's pages.
             * @enum {string}
             */
            brand_font?: "system" | "inter";
            /**
             * @description Language of the account's pages and mails; null for that of each visitor, and English for the owner's mails.
             * @enum {string|null}
             */
            language?: "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "pl" | null;
            /** @description Name of the account. Its pages and mails show it. */
            name?: string & unknown;
            /**
             * @description When mails about leads are sent.
             * @enum {string}
             */
            notify?: "each" | "daily" | "none";
            /**
             * Format: email
             * @description Address for mails about new leads, readers, weeks and disabled webhooks, once it is confirmed. A mail asks for the confirmation; set the same address again to repeat that mail. null: no notices.
             */
            notify_email?: string | null;
            /**
             * @description When mails about readers are sent.
             * @enum {string}
             */
            reading_notices?: "each" | "daily" | "none";
            /** @description Time zone of the account, as its IANA name, such as Europe/Berlin. */
            timezone?: string;
            /** @description Whether the weekly report is sent to notify_email. */
            weekly_report?: boolean;
        };
        ChangedChannel: {
            /** @description What it gets notices about. */
            about?: ("leads" | "readers" | "weekly" | "webhooks")[];
            /** @description Whether notices are sent. */
            is_active?: boolean;
            /** @description Name of the channel, for you. */
            name?: string & unknown;
            /** @description URL of its incoming webhook. */
            url?: string;
        };
        ChangedGenericLink: {
            /**
             * Format: int32
             * @description Days for which personal links that the form gives from now on work; null for no end.
             */
            access_expires_after_days?: number | null;
            /** @description Whether the page is open. */
            active?: boolean;
            /** @description Origins of your own pages that may show the form. An empty list allows none. */
            allowed_origins?: string[];
            /** @description Label of the form's button; null for the default, which describes the action. */
            button_text?: ((string & unknown) | null) & unknown;
            /** @description Whether the form asks for a name. */
            collect_name?: boolean;
            /** @description Text that a visitor must agree to; null removes it. */
            consent_text?: ((string & unknown) | null) & unknown;
            /** @description Description on the page; null clears it. */
            description?: string | null;
            /**
             * Format: date-time
             * @description When the page closes (ISO 8601, in the future); null for never.
             */
            expires_at?: string | null;
            /**
             * @description Language of the page and of its mails; null for that of the account, or else the visitor's.
             * @enum {string|null}
             */
            language?: "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "pl" | null;
            /** @description http or https URL of the privacy notice; null clears it. */
            privacy_url?: ((string & unknown) | null) & unknown;
            /**
             * @description When the owner gets mails about readers who came through the page; null for the account's setting.
             * @enum {string|null}
             */
            reading_notices?: "each" | "daily" | "none" | null;
            /** @description http or https URL that the form leads to; null leads to the document. */
            redirect_url?: ((string & unknown) | null) & unknown;
            /** @description Whether the email address must be verified. */
            require_verification?: boolean;
            /** @description Whether the page shows the document's table of contents. */
            show_contents?: boolean;
            /** @description Whether the page shows blurred pictures of inside pages. */
            show_pages?: boolean;
            /** @description Whether the page shows how many people have read the document, once they are ten. */
            show_readers?: boolean;
            /** @description Last part of the URL. The previous URL stops working; no other account can take it. */
            slug?: string;
            /** @description http or https URL of the thumbnail image; null clears it. */
            thumbnail_url?: ((string & unknown) | null) & unknown;
            /** @description Headline of the page; null clears it. */
            title?: ((string & unknown) | null) & unknown;
        };
        ChangedLeadMagnet: {
            /** @description Who wrote it, as landing pages show it; null clears it. */
            author?: ((string & unknown) | null) & unknown;
            /** @description A sentence about the author; null clears it. */
            author_about?: ((string & unknown) | null) & unknown;
            /** @description Description of the document; null clears it. */
            description?: string | null;
            /** @description Whether the reading page offers the file for download and printing. It holds for links that exist, from the next request on. */
            downloadable?: boolean;
            /** @description Label of a button behind the last page; needs end_url; null clears it. */
            end_button?: ((string & unknown) | null) & unknown;
            /** @description Text behind the last page; null clears it. */
            end_text?: ((string & unknown) | null) & unknown;
            /** @description http or https URL that the button behind the last page opens; needs end_button; null clears it. */
            end_url?: ((string & unknown) | null) & unknown;
            /** @description Whether links to it can be created and opened. */
            is_active?: boolean;
            /** @description Title of the document. */
            title?: string & unknown;
        };
        ChangedReport: {
            /** @description Whether it is sent. */
            enabled: boolean;
        };
        ChangedTemplate: {
            /** @description Value of utm_campaign; null removes it. */
            campaign?: string | null;
            /** @description Value of utm_content; null removes it. */
            content?: string | null;
            /** @description Value of utm_medium; null removes it. */
            medium?: string | null;
            /** @description Name of the template. */
            name?: string & unknown;
            /** @description Value of utm_source; null removes it. */
            source?: string | null;
            /** @description Value of utm_term; null removes it. */
            term?: string | null;
        };
        ChangedUser: {
            /**
             * @description What the person may do.
             * @enum {string}
             */
            role: "owner" | "editor" | "analyst";
        };
        ChangedWebhook: {
            /** @description Purpose of the webhook; null clears it. */
            description?: string | null;
            /** @description Whether messages are sent. */
            is_active?: boolean;
            /** @description Kinds of events to send from now on. */
            kinds?: ("link.created" | "link.accessed" | "form.submitted" | "form.verified" | "session.ended" | "download.completed")[];
            /** @description https URL that messages are sent to, including pending ones. */
            url?: string;
        };
        Channel: {
            /** @description What it gets notices about. */
            about: ("leads" | "readers" | "weekly" | "webhooks")[];
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Why it was disabled; null if it was not, or by hand. */
            disabled_reason: string | null;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /** @description Whether notices are sent. */
            is_active: boolean;
            /**
             * @description Chat program.
             * @enum {string}
             */
            kind: "slack" | "teams" | "discord";
            /** @description Why the last message was not taken; null if it was. */
            last_error: string | null;
            /**
             * Format: date-time
             * @description When a message was last not taken.
             */
            last_failed_at: string | null;
            /**
             * Format: date-time
             * @description When a message was last taken by it.
             */
            last_sent_at: string | null;
            /** @description Name of the channel. */
            name: string;
            /** @description Host and last characters of its URL, which is a secret. */
            url_hint: string;
        };
        Cohort: {
            /**
             * Format: date-time
             * @description Start of the interval in which they first read, with its offset.
             */
            cohort: string;
            /** @description true: the period cuts the interval, or it is not over. */
            partial?: boolean;
            /** @description Every later interval that has begun, with zero where none returned. */
            returned: components["schemas"]["Return"][];
            /**
             * Format: int64
             * @description How many readers there are: persons with a first page view in the interval. All access links of an address are one.
             */
            size: number;
        };
        "Create-share-body": {
            /**
             * Format: date-time
             * @description When the link expires; null for never.
             */
            expires_at?: string | null;
            /** @description Name by which you recognise the link. Its page does not show it. */
            name?: string | null;
            /** @description Password that the page asks for. It is stored as an argon2id hash. */
            password?: string | null;
        };
        CurrentReader: {
            /**
             * Format: uuid
             * @description Access link of the reader; of several, the one that was read last.
             */
            access_link_id: string;
            /** @description Address of the reader. Null if the key lacks the scope leads, or the link was deleted. */
            email: string | null;
            /**
             * Format: date-time
             * @description When the visit to the page ended.
             */
            last_seen_at: string;
            /**
             * Format: uuid
             * @description Lead magnet that is read.
             */
            lead_magnet_id: string;
            /**
             * Format: int64
             * @description Version of the document; 0: not known.
             */
            magnet_version: number;
            /**
             * Format: int64
             * @description Page that was visited last; null if the event named none.
             */
            page: number | null;
            /**
             * Format: date-time
             * @description First event of the session.
             */
            since: string;
        };
        CursorPageDelivery: {
            data: components["schemas"]["Delivery"][];
            pagination: components["schemas"]["CursorPagination"];
        };
        CursorPageSubmission: {
            data: components["schemas"]["Submission"][];
            pagination: components["schemas"]["CursorPagination"];
        };
        CursorPagination: {
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
            /**
             * Format: int64
             * @description Number of this page, from 1. Null for pages requested by cursor.
             */
            page: number | null;
            /**
             * Format: int64
             * @description Elements per page.
             */
            per_page: number;
            /**
             * Format: int64
             * @description Elements on all pages.
             */
            total: number;
            /**
             * Format: int64
             * @description Number of pages.
             */
            total_pages: number;
        };
        Delivery: {
            /** @description The last 20 attempts, oldest first. */
            attempts: components["schemas"]["Attempt"][];
            /** @description Body of the message; null once its access link or submission was deleted. */
            body: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * @description Kind of the event.
             * @enum {string}
             */
            kind: "link.created" | "link.accessed" | "form.submitted" | "form.verified" | "session.ended" | "download.completed" | "webhook.test";
            /** @description Value of the header webhook-id: the same for every attempt, and for every webhook that receives the event. */
            message_id: string;
            /**
             * Format: date-time
             * @description Time of the next attempt.
             */
            next_attempt_at: string | null;
            /** @description Why it failed. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When it was delivered or given up.
             */
            settled_at: string | null;
            /**
             * @description Whether it was delivered, has failed, or is pending.
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed";
        };
        Dimension: {
            /**
             * Format: int64
             * @description Highest number that can be given; null for other types.
             */
            maximum: number | null;
            /** @description Metrics that can be divided and filtered by it. */
            metrics: ("attentive" | "confirmations" | "download_rate" | "downloads" | "downloads_started" | "events" | "finish_rate" | "finished" | "link_views" | "median_page_ms" | "open_rate" | "p90_page_ms" | "page_views" | "people" | "people_download_rate" | "people_downloaded" | "people_finish_rate" | "people_finished" | "people_without_form" | "readers" | "reading_ms" | "sessions" | "submission_rate" | "submissions" | "verified" | "visitors")[];
            /**
             * Format: int64
             * @description Lowest number that can be given; null for other types.
             */
            minimum: number | null;
            /**
             * @description Name of the dimension, in dimensions, filters and exclude.
             * @enum {string}
             */
            name: "access_link_id" | "bot" | "browser" | "country" | "device" | "email_domain" | "event_type" | "generic_link_id" | "hour_of_day" | "language" | "lead_magnet_id" | "magnet_version" | "os" | "page" | "referrer_host" | "utm_campaign" | "utm_content" | "utm_medium" | "utm_source" | "utm_term" | "weekday";
            /** @description Null is a value, which stands for none. */
            nullable: boolean;
            /** @description Field that must be true in a question with it; null: none. */
            requires: string | null;
            /**
             * @description Type of its values.
             * @enum {string}
             */
            type: "text" | "uuid" | "number" | "boolean";
            /** @description All values there are; empty if they are not known beforehand. */
            values: string[];
        };
        EmailSummary: {
            /**
             * Format: date-time
             * @description Time of the first page view.
             */
            first_access: string | null;
            /** Format: date-time */
            first_link_created: string | null;
            /**
             * Format: date-time
             * @description Time of the last page view.
             */
            last_access: string | null;
            /** Format: date-time */
            last_link_created: string | null;
            /**
             * Format: int64
             * @description Access links of the address. The two links of a form, the one shown in the browser and the one sent by mail, count as one.
             */
            total_links: number;
            /**
             * Format: int64
             * @description Sessions on these links that viewed at least one page.
             */
            total_views: number;
            /**
             * Format: int64
             * @description Lead magnets with at least one such session.
             */
            unique_lead_magnets: number;
        };
        Entry: {
            /** @description What was done: the operation's operationId in this description, or sign-in, sign-out or accept-invitation. */
            action: string;
            /** @description Address of the person, or name of the API key, as it was then. */
            actor: string;
            /**
             * Format: date-time
             * @description When it was done.
             */
            at: string;
            /**
             * Format: uuid
             * @description Unique identifier. Later entries have greater ones.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the API key, or of the one that the session was signed in by; null for a person.
             */
            key_id: string | null;
            /** @description The object as it is now; null if it is gone, and if object_id is null. */
            object: components["schemas"]["Object"] | null;
            /**
             * Format: uuid
             * @description Id of the object that it was done to; null for the account itself and for several objects.
             */
            object_id: string | null;
            /** @description X-Request-Id of the request. */
            request_id: string;
            /**
             * Format: uuid
             * @description Id of the dashboard's session; null for a request with an API key.
             */
            session_id: string | null;
            /**
             * Format: uuid
             * @description Id of the person; null for an API key.
             */
            user_id: string | null;
        };
        Event: {
            /**
             * Format: uuid
             * @description Access link of the event.
             */
            access_link_id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description Data of the event, such as the page number. */
            event_data: {
                [key: string]: unknown;
            };
            /**
             * @description Type of the event.
             * @enum {string}
             */
            event_type: "page_viewed" | "download_started" | "download_completed";
            /**
             * Format: uuid
             * @description Unique within the access link.
             */
            id: string;
            /** @description Keyed hash of the visitor's address; the key is destroyed within two days. Null if the address is withheld. */
            ip_hash: string | null;
            /** @description User agent of the visitor. Null if withheld. */
            user_agent: string | null;
        };
        EventPage: {
            data: components["schemas"]["Event"][];
            pagination: components["schemas"]["EventPagination"];
        };
        EventPagination: {
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description Value of received_after for the next fetch of new events. It lies some seconds in the past, so that events being stored now are not missed. A few events therefore appear twice; identify them by access_link_id and id. When you follow cursors, every page has the value of the first page. With numbered pages, use the value of the first page.
             */
            next_received_after: string;
            /**
             * Format: int64
             * @description Number of this page, from 1. Null for pages requested by cursor.
             */
            page: number | null;
            /**
             * Format: int64
             * @description Elements per page.
             */
            per_page: number;
            /**
             * Format: int64
             * @description Elements on all pages.
             */
            total: number;
            /**
             * Format: int64
             * @description Number of pages.
             */
            total_pages: number;
        };
        Field: {
            /** @description Name of the parameter, or path of the field in the body, such as emails[3]. */
            field: string;
            /** @description What is wrong, and what is allowed. */
            message: string;
        };
        FullWebhook: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Purpose of the webhook. */
            description: string | null;
            /**
             * Format: date-time
             * @description When it was disabled.
             */
            disabled_at: string | null;
            /** @description Why it was disabled. */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description When the first message after the last success failed; null if none has.
             */
            failing_since: string | null;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /** @description Whether messages are sent. */
            is_active: boolean;
            /** @description Kinds of events that are sent to it. */
            kinds: ("link.created" | "link.accessed" | "form.submitted" | "form.verified" | "session.ended" | "download.completed")[];
            /** @description Secret that messages are signed with. It is shown only once. */
            secret: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
            /** @description URL that messages are sent to. */
            url: string;
        };
        FunnelReport: {
            /**
             * Format: date-time
             * @description Everything stored until then is included. Newer events may be.
             */
            as_of: string;
            /** @description The steps in their order. */
            data: components["schemas"]["FunnelStep"][];
            /**
             * Format: int64
             * @description Views and events of bots in the period that were left out.
             */
            excluded_bots: number;
        };
        FunnelStep: {
            /**
             * Format: int64
             * @description How many took the step, with access links that the API created and that were first opened in the period.
             */
            count: number;
            /**
             * Format: int64
             * @description How many took the step without these: views of landing pages, and submissions.
             */
            from_form: number;
            /**
             * Format: double
             * @description Median time since the step before, of submissions that took both. For finished and downloaded, the time since opened. Null for link_view and submission.
             */
            median_seconds: number | null;
            /**
             * Format: double
             * @description from_form, divided by that of the step before. finished and downloaded are both divided by opened.
             */
            rate: number | null;
            /**
             * @description Name of the step.
             * @enum {string}
             */
            step: "link_view" | "submission" | "verified" | "opened" | "finished" | "downloaded";
            /**
             * Format: double
             * @description from_form, divided by that of link_view.
             */
            total_rate: number | null;
        };
        GenericLink: {
            /**
             * Format: int32
             * @description Days for which personal links given by the form work; null for no end.
             */
            access_expires_after_days: number | null;
            /** @description Whether the page is open. */
            active: boolean;
            /** @description Origins of your own pages that may show the form. */
            allowed_origins: string[];
            /** @description Label of the form's button; null for the default, which describes the action. */
            button_text: string | null;
            /** @description Whether the form asks for a name. */
            collect_name: boolean;
            /** @description Text that a visitor must agree to. */
            consent_text: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Description on the page. */
            description: string | null;
            /**
             * Format: date-time
             * @description When the page closes; null for never.
             */
            expires_at: string | null;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * @description Language of the page and of its mails; null for that of the account, or else the visitor's.
             * @enum {string|null}
             */
            language: "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "pl" | null;
            /** @description The lead magnet; only in the answer for a single link. */
            lead_magnet?: components["schemas"]["LeadMagnet"];
            /**
             * Format: uuid
             * @description Lead magnet that the page offers.
             */
            lead_magnet_id: string;
            /** @description URL of the privacy notice. */
            privacy_url: string | null;
            /**
             * @description When the owner gets mails about readers who came through the page: for each visit that matters, once a day, or never; null for the account's setting.
             * @enum {string|null}
             */
            reading_notices: "each" | "daily" | "none" | null;
            /** @description URL that the form leads to; null: to the document. */
            redirect_url: string | null;
            /** @description Whether the email address must be verified. */
            require_verification: boolean;
            /** @description Whether the page shows the document's table of contents. */
            show_contents: boolean;
            /** @description Whether the page shows blurred pictures of inside pages. */
            show_pages: boolean;
            /** @description Whether the page shows how many people have read the document, once they are ten. */
            show_readers: boolean;
            /** @description Last part of the URL. */
            slug: string;
            /**
             * Format: int64
             * @description Submissions so far.
             */
            submission_count: number;
            /** @description URL of the picture that the page shows: the one that was set, otherwise the document's first page; null if there is neither. */
            thumbnail_url: string | null;
            /** @description Headline of the page. */
            title: string | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
            /** @description Full public URL. */
            url: string;
            /**
             * Format: int64
             * @description Views of the page by people so far. Each visitor counts at most once a minute.
             */
            view_count: number;
        };
        Invitation: {
            /**
             * Format: date-time
             * @description When it was created, or last repeated.
             */
            created_at: string;
            /** @description Address that the invitation was mailed to. Only who reads its mails can accept it. */
            email: string;
            /**
             * Format: date-time
             * @description When it expires: after seven days.
             */
            expires_at: string;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * @description What the person will be in the account.
             * @enum {string}
             */
            role: "owner" | "editor" | "analyst";
        };
        LeadMagnet: {
            /**
             * Format: int64
             * @description Number of its access links.
             */
            access_link_count: number;
            /** @description Who wrote it, as landing pages show it. Without one, the first file sets it if its metadata names a person. */
            author: string | null;
            /** @description A sentence about the author. */
            author_about: string | null;
            /** @description Media type of the file. */
            content_type: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Description of the document. */
            description: string | null;
            /** @description Whether the reading page offers the file for download and printing. */
            downloadable: boolean;
            /** @description Label of the button behind the last page. */
            end_button: string | null;
            /** @description Text behind the last page. */
            end_text: string | null;
            /** @description URL that the button behind the last page opens. */
            end_url: string | null;
            /** @description Name of the file. */
            file_name: string | null;
            /**
             * Format: int64
             * @description Size of the file in bytes.
             */
            file_size: number | null;
            /**
             * Format: int64
             * @description Number of its generic links.
             */
            generic_link_count: number;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /** @description Whether links to it can be created and opened. */
            is_active: boolean;
            /**
             * Format: int32
             * @description Pages of the file.
             */
            page_count: number | null;
            /** @description Title of the document. */
            title: string;
            /**
             * Format: date-time
             * @description When it or its file was last changed.
             */
            updated_at: string;
        };
        LinkPreview: {
            /**
             * Format: date-time
             * @description When the URL stops working as a preview. After that it works like a visitor's URL.
             */
            expires_at: string;
            /** @description Shows the document without counting a view, even if the link does not open. Anyone with this URL can use it. */
            url: string;
        };
        Logo: {
            /**
             * @description Media type of the picture.
             * @enum {string}
             */
            content_type: "image/png" | "image/jpeg";
            /**
             * Format: int64
             * @description Height in pixels.
             */
            height: number;
            /** @description Public URL of the picture. It changes with the logo. */
            url: string;
            /**
             * Format: int64
             * @description Width in pixels.
             */
            width: number;
        };
        Metric: {
            /** @description What it counts. */
            description: string;
            /** @description Dimensions that it can be divided and filtered by. */
            dimensions: ("access_link_id" | "bot" | "browser" | "country" | "device" | "email_domain" | "event_type" | "generic_link_id" | "hour_of_day" | "language" | "lead_magnet_id" | "magnet_version" | "os" | "page" | "referrer_host" | "utm_campaign" | "utm_content" | "utm_medium" | "utm_source" | "utm_term" | "weekday")[];
            /**
             * @description sum: rows add up to totals. distinct: two rows may count the same thing. rate: one number divided by another. quantile: of times.
             * @enum {string}
             */
            kind: "sum" | "distinct" | "rate" | "quantile";
            /**
             * @description Name of the metric.
             * @enum {string}
             */
            name: "attentive" | "confirmations" | "download_rate" | "downloads" | "downloads_started" | "events" | "finish_rate" | "finished" | "link_views" | "median_page_ms" | "open_rate" | "p90_page_ms" | "page_views" | "people" | "people_download_rate" | "people_downloaded" | "people_finish_rate" | "people_finished" | "people_without_form" | "readers" | "reading_ms" | "sessions" | "submission_rate" | "submissions" | "verified" | "visitors";
            /** @description Null where nothing was counted that it could be of; other metrics are zero there. */
            nullable: boolean;
            /**
             * @description Null for numbers and rates.
             * @enum {string|null}
             */
            unit: "ms" | null;
        };
        NewAPIKey: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Id of the key that created it; null if a person created it.
             */
            created_by: string | null;
            /**
             * Format: date-time
             * @description When it expires; null for never.
             */
            expires_at: string | null;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /** @description The key itself. It is shown only once. */
            key: string;
            /**
             * Format: date-time
             * @description When it was last used.
             */
            last_used_at: string | null;
            /** @description Purpose of the key. */
            name: string;
            /** @description First characters of the key, to recognise it. */
            prefix: string;
            /** @description Scopes of the key. */
            scopes: ("read" | "write" | "leads" | "webhooks" | "keys" | "people" | "people:privacy")[];
        };
        NewAccessLink: {
            /**
             * Format: email
             * @description Email address of the recipient.
             */
            email: string;
            /**
             * Format: date-time
             * @description When it expires (ISO 8601, in the future); null for never.
             */
            expires_at?: string | null;
            /**
             * Format: uuid
             * @description Lead magnet that the link opens.
             */
            lead_magnet_id: string;
            /**
             * Format: int32
             * @description How many times it can be opened; null for no limit.
             */
            max_views?: number | null;
        };
        NewAccessLinks: {
            /** @description Email addresses of the recipients, without duplicates. */
            emails: string[];
            /**
             * Format: date-time
             * @description When the links expire (ISO 8601, in the future); null for never.
             */
            expires_at?: string | null;
            /**
             * Format: int32
             * @description How many times each link can be opened; null for no limit.
             */
            max_views?: number | null;
        };
        NewChannel: {
            /** @description What it gets notices about. Default: everything. */
            about?: ("leads" | "readers" | "weekly" | "webhooks")[];
            /**
             * @description Chat program.
             * @enum {string}
             */
            kind: "slack" | "teams" | "discord";
            /** @description Name of the channel, for you. */
            name: string & unknown;
            /** @description URL of its incoming webhook. It is not shown again. */
            url: string;
        };
        NewGenericLink: {
            /**
             * Format: int32
             * @description Days for which personal links given by the form work; null for no end.
             */
            access_expires_after_days?: number | null;
            /** @description Origins of your own pages that may show the form, such as https://www.example.com. */
            allowed_origins?: string[];
            /** @description Label of the form's button; the default describes the action. */
            button_text?: ((string & unknown) | null) & unknown;
            /**
             * @description Whether the form asks for a name.
             * @default false
             */
            collect_name?: boolean;
            /** @description Text that a visitor must agree to, shown next to a box to tick. */
            consent_text?: ((string & unknown) | null) & unknown;
            /** @description Description on the page. */
            description?: string | null;
            /**
             * Format: date-time
             * @description When the page closes (ISO 8601, in the future); null for never.
             */
            expires_at?: string | null;
            /**
             * @description Language of the page and of its mails; null for that of the account, or else the visitor's.
             * @enum {string|null}
             */
            language?: "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "pl" | null;
            /** @description Lead magnet that the page offers. */
            lead_magnet_id: string;
            /** @description http or https URL of the privacy notice. */
            privacy_url?: ((string & unknown) | null) & unknown;
            /**
             * @description When the owner gets mails about readers who came through the page; null for the account's setting.
             * @enum {string|null}
             */
            reading_notices?: "each" | "daily" | "none" | null;
            /** @description http or https URL that the form leads to instead of the document, whose link then comes by mail. */
            redirect_url?: ((string & unknown) | null) & unknown;
            /**
             * @description Whether the email address must be verified.
             * @default false
             */
            require_verification?: boolean;
            /** @description Whether the page shows the document's table of contents; true by default. */
            show_contents?: boolean;
            /** @description Whether the page shows blurred pictures of inside pages; true by default. */
            show_pages?: boolean;
            /**
             * @description Whether the page shows how many people have read the document, once they are ten.
             * @default false
             */
            show_readers?: boolean;
            /** @description Last part of the URL; derived from the title if omitted. */
            slug?: string | null;
            /** @description http or https URL of the thumbnail image. */
            thumbnail_url?: ((string & unknown) | null) & unknown;
            /** @description Headline of the page. */
            title?: ((string & unknown) | null) & unknown;
        };
        NewInvitation: {
            /**
             * Format: email
             * @description Address to invite.
             */
            email: string;
            /**
             * @description What the person will be: owner, editor or analyst.
             * @enum {string}
             */
            role: "owner" | "editor" | "analyst";
        };
        NewKey: {
            /**
             * Format: date-time
             * @description When it expires (ISO 8601, in the future). If omitted or null, it expires together with the key that creates it, if that key expires.
             */
            expires_at?: string | null;
            /** @description Purpose of the key. */
            name: string & unknown;
            /** @description Scopes of the key: read, write, leads (reading personal data: submissions, access links, summaries of email addresses), webhooks (everything about webhooks), keys (listing, creating and revoking keys), people (managing people, invitations and sessions, and reading the audit log). No scope includes another: a key with read and write gets 403 for submissions and for summaries of email addresses. There is no default. */
            scopes: ("read" | "write" | "leads" | "webhooks" | "keys" | "people" | "people:privacy")[];
        };
        NewLeadMagnet: {
            /** @description Who wrote it, as landing pages show it. */
            author?: ((string & unknown) | null) & unknown;
            /** @description A sentence about the author. */
            author_about?: ((string & unknown) | null) & unknown;
            /** @description Description of the document. */
            description?: string | null;
            /**
             * @description Whether the reading page offers the file for download and printing. A browser that shows a document has its bytes: false keeps honest readers from a copy, and no one else.
             * @default true
             */
            downloadable?: boolean;
            /** @description Label of a button behind the last page; needs end_url. */
            end_button?: ((string & unknown) | null) & unknown;
            /** @description Text behind the last page. */
            end_text?: ((string & unknown) | null) & unknown;
            /** @description http or https URL that the button behind the last page opens; needs end_button. */
            end_url?: ((string & unknown) | null) & unknown;
            /** @description Title of the document. */
            title: string & unknown;
        };
        NewShare: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires; null for never.
             */
            expires_at: string | null;
            /** @description Whether its page asks for a password. */
            has_password: boolean;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * Format: date-time
             * @description When its page was last shown; null for never.
             */
            last_viewed_at: string | null;
            /**
             * Format: uuid
             * @description Lead magnet whose statistics it shows.
             */
            lead_magnet_id: string;
            /** @description Name of the link, which its page does not show. */
            name: string | null;
            /** @description Full URL. Whoever has it, and the password if there is one, sees the statistics. It is shown only once. */
            url: string;
            /**
             * Format: int64
             * @description How often its page was shown.
             */
            view_count: number;
        };
        NewTemplate: {
            /** @description Value of utm_campaign. */
            campaign?: string | null;
            /** @description Value of utm_content. */
            content?: string | null;
            /** @description Value of utm_medium, such as email. */
            medium?: string | null;
            /** @description Name of the template. */
            name: string & unknown;
            /** @description Value of utm_source, such as newsletter. */
            source?: string | null;
            /** @description Value of utm_term. */
            term?: string | null;
        };
        NewWebhook: {
            /** @description Purpose of the webhook. */
            description?: string | null;
            /** @description Kinds of events to send. */
            kinds: ("link.created" | "link.accessed" | "form.submitted" | "form.verified" | "session.ended" | "download.completed")[];
            /** @description https URL that messages are sent to. */
            url: string;
        };
        NowReport: {
            /**
             * Format: date-time
             * @description Everything stored until then is included. Newer events may be.
             */
            as_of: string;
            /** @description At most 1,000 readers, the one seen last first. */
            data: components["schemas"]["CurrentReader"][];
            /**
             * Format: int64
             * @description Page views of bots in the same minutes that were left out.
             */
            excluded_bots: number;
            /** @description Titles of the lead magnets. */
            labels: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description How many readers there are: all access links of an address are one.
             */
            readers: number;
        };
        Object: {
            /** @description Its title, slug, address or name, or the prefix of an API key; null if it has none, or if the API key lacks the scope that reads such objects. */
            name: string | null;
            /**
             * Format: uuid
             * @description Id of the lead magnet that a link or a share belongs to, or of the generic link that a submission came by; null for all others.
             */
            parent_id: string | null;
            /**
             * @description What kind of object it is.
             * @enum {string}
             */
            type: "access_link" | "chat_channel" | "generic_link" | "invitation" | "key" | "lead_magnet" | "session" | "share" | "submission" | "user" | "utm_template" | "webhook";
        };
        Page: {
            /**
             * Format: double
             * @description Median visible time of the views that have one, in milliseconds; each view counts at most 10 minutes.
             */
            median_ms: number | null;
            /**
             * Format: double
             * @description 90th percentile of the same times.
             */
            p90_ms: number | null;
            /**
             * Format: int64
             * @description Number of the page, from 1.
             */
            page: number;
            /**
             * Format: int64
             * @description People whose furthest page is at least this one: all access links of an address are one.
             */
            people_reached: number;
            /**
             * Format: int64
             * @description People whose furthest page is this one.
             */
            people_stopped: number;
            /**
             * Format: int64
             * @description Readers whose furthest page is at least this one.
             */
            reached: number;
            /**
             * Format: int64
             * @description Access links with at least one view of the page.
             */
            readers: number;
            /**
             * Format: int64
             * @description Readers with more than one view of the page.
             */
            reread: number;
            /**
             * Format: int64
             * @description Readers whose furthest page is this one.
             */
            stopped: number;
            /**
             * Format: int64
             * @description Views of the page.
             */
            views: number;
        };
        PageAPIKey: {
            data: components["schemas"]["APIKey"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageAccessLink: {
            data: components["schemas"]["AccessLink"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageChannel: {
            data: components["schemas"]["Channel"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageEntry: {
            data: components["schemas"]["Entry"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageGenericLink: {
            data: components["schemas"]["GenericLink"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageInvitation: {
            data: components["schemas"]["Invitation"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageLeadMagnet: {
            data: components["schemas"]["LeadMagnet"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageReport: {
            /**
             * Format: date-time
             * @description Everything stored until then is included. Newer events may be.
             */
            as_of: string;
            /** @description Every page of the version, also if no one viewed it. Where the number of pages is not known, up to the last page viewed. Beyond page 10,000 only pages that were viewed. */
            data: components["schemas"]["Page"][];
            /**
             * Format: int64
             * @description Page views of bots that were left out; of all versions if magnet_version is null.
             */
            excluded_bots: number;
            /**
             * Format: int64
             * @description Version that is reported; null if no one read the lead magnet in the period.
             */
            magnet_version: number | null;
        };
        PageSession: {
            data: components["schemas"]["Session"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageShare: {
            data: components["schemas"]["Share"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageTemplate: {
            data: components["schemas"]["Template"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageUser: {
            data: components["schemas"]["User"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageVersion: {
            data: components["schemas"]["Version"][];
            pagination: components["schemas"]["Pagination"];
        };
        PageVisit: {
            /**
             * Format: int64
             * @description Version of the document.
             */
            magnet_version: number;
            /**
             * Format: int64
             * @description How long the page was visible, in milliseconds.
             */
            ms: number;
            /**
             * Format: int64
             * @description Null if the event has none.
             */
            page: number | null;
            /**
             * Format: date-time
             * @description When the page became visible.
             */
            start: string;
        };
        PageWebhook: {
            data: components["schemas"]["Webhook"][];
            pagination: components["schemas"]["Pagination"];
        };
        Pagination: {
            /**
             * Format: int64
             * @description Number of this page, from 1.
             */
            page: number;
            /**
             * Format: int64
             * @description Elements per page.
             */
            per_page: number;
            /**
             * Format: int64
             * @description Elements on all pages.
             */
            total: number;
            /**
             * Format: int64
             * @description Number of pages.
             */
            total_pages: number;
        };
        PersonAccessLink: {
            /** Format: date-time */
            created_at: string;
            /** @description Address, as typed. */
            email: string;
            /** Format: date-time */
            expires_at: string | null;
            /** Format: date-time */
            first_viewed_at: string | null;
            /** Format: uuid */
            generic_link_id: string | null;
            /** Format: uuid */
            id: string;
            is_active: boolean;
            /** Format: date-time */
            last_viewed_at: string | null;
            /**
             * Format: uuid
             * @description Document that it opens.
             */
            lead_magnet_id: string;
            /** Format: int32 */
            max_views: number | null;
            /**
             * Format: int32
             * @description How often it was opened.
             */
            opened_count: number;
            /** @description Page before the landing page of that submission. */
            referrer: string | null;
            /**
             * @description How its URL was handed out.
             * @enum {string}
             */
            source: "api" | "mail" | "form";
            /** Format: uuid */
            submission_id: string | null;
            /** Format: date-time */
            updated_at: string;
            /** @description Parameters of the submission that it was created for. */
            utm: {
                [key: string]: string;
            } | null;
            /**
             * Format: int64
             * @description Sessions with a viewed page.
             */
            view_count: number;
        };
        PersonAddress: {
            /**
             * Format: email
             * @description Address of the person, case-insensitive.
             */
            email: string;
        };
        PersonAnswer: {
            /** @description The answer. A list has only the elements that mention the person. */
            body: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** @description operationId of the request. */
            operation: string;
        };
        PersonChatMessage: {
            /**
             * Format: uuid
             * @description Chat channel that it is for.
             */
            channel_id: string;
            /** Format: date-time */
            created_at: string;
            /** @description available, scheduled, running, retryable, completed, cancelled or discarded. */
            state: string;
            /** @description Its lines, the heading first, without those that name others alone. */
            text: string[];
        };
        PersonDocument: {
            /** @description Personal links, oldest first. */
            access_links: components["schemas"]["PersonAccessLink"][];
            /** @description Answers that are kept for a day for repeated requests, as far as they mention the address, a link or a submission. */
            answers: components["schemas"]["PersonAnswer"][];
            /** @description What was done to these submissions and links, and what a user with the address did. */
            audit_log: components["schemas"]["Entry"][];
            /** @description Messages to chat channels that mention the address and wait, were sent within the last minute, or could not be sent within the last seven days. */
            chat_messages: components["schemas"]["PersonChatMessage"][];
            /** @description Downloads in these sessions, oldest first. */
            downloads: components["schemas"]["PersonDownload"][];
            /** @description Address that was asked for. */
            email: string;
            /** @description Events of these links and of those that were deleted, as lines of the export of events (GET /api/v1/analytics/export) with visitor=true. */
            events: {
                [key: string]: unknown;
            }[];
            /**
             * Format: date-time
             * @description When the document was created.
             */
            exported_at: string;
            /** @description Forms of the dashboard that mention the address and wait until their sender has signed in again. */
            forms: components["schemas"]["PersonForm"][];
            /** @description Keys of repeated requests with the address in them, which are kept for a day. */
            idempotency_keys: components["schemas"]["PersonKey"][];
            /** @description Mails that wait, were sent within the last minute, or could not be sent within the last seven days. */
            mails: components["schemas"]["PersonMail"][];
            /** @description Visits through these links that the owner is to be notified of, or was: a row for each, oldest first. */
            notices: components["schemas"]["PersonNotice"][];
            /**
             * Format: uuid
             * @description The person in reports, in SQL, and in the audit log: a keyed hash of the address.
             */
            person_id: string;
            /** @description Downloads of these links and of those that were deleted that wait to be reported as events, were reported within the last minute, or could not be reported within the last seven days. */
            reports: components["schemas"]["PersonReport"][];
            /** @description Openings of these links, oldest first. */
            sessions: components["schemas"]["PersonSession"][];
            /** @description Forms that were sent with the address, oldest first. */
            submissions: components["schemas"]["PersonSubmission"][];
            /** @description Mails that asked to confirm the address. They are removed a week after they expire. */
            verifications: components["schemas"]["PersonVerification"][];
            /** @description Messages to webhooks about these submissions and links. */
            webhook_deliveries: components["schemas"]["Delivery"][];
        };
        PersonDownload: {
            /**
             * Format: date-time
             * @description When the whole file had been sent.
             */
            completed_at: string | null;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            session_id: string;
            /** Format: date-time */
            started_at: string;
        };
        PersonErasure: {
            /**
             * Format: uuid
             * @description Account that stored the data.
             */
            account_id: string;
            /**
             * Format: date-time
             * @description When the last backup that holds the person is deleted, as the installation states it (--backup-days): so many days after the events were blanked, since a backup until then has them; null: not known until the events are blanked, or it states nothing.
             */
            backups_until: string | null;
            /**
             * Format: date-time
             * @description What was stored until then is erased.
             */
            erased_at: string;
            /** @description Whether the events and the copies for SQL hold nothing of the person any more. */
            events_blanked: boolean;
            /**
             * Format: date-time
             * @description When that was so; null: not yet.
             */
            events_blanked_at: string | null;
            /**
             * Format: date-time
             * @description When it is so at the latest.
             */
            events_due_at: string;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * Format: uuid
             * @description The person in reports and in SQL: a keyed hash of the address, which is not kept.
             */
            person_id: string;
            /** @description The fields above, as a JSON Web Signature. */
            receipt: string;
            /**
             * Format: date-time
             * @description When Kafka and the spools of collectors have dropped the records of these events and their dead letters; null: not known until the events are blanked, or if one of them keeps records forever.
             */
            records_until: string | null;
            /** @description What was removed from Postgres. */
            removed: components["schemas"]["Removed"];
        };
        PersonForm: {
            /** @description The lines that mention the address. Other addresses in them are left out. */
            fields: components["schemas"]["PersonFormField"][];
            /** @description Where it was sent to. */
            path: string;
        };
        PersonFormField: {
            /** @description Name of the field, or file for the name of a file. */
            name: string;
            value: string;
        };
        PersonKey: {
            /** Format: date-time */
            created_at: string;
            /** @description Idempotency-Key. */
            key: string;
            /** @description operationId of the request. */
            operation: string;
        };
        PersonMail: {
            /** Format: date-time */
            created_at: string;
            /** @description document, confirm, lead, digest, notices, webhook, sign-in or invitation. */
            kind: string;
            /** @description What a notice says about the person as a lead. */
            leads: components["schemas"]["PersonMailLead"][];
            /** @description What a notice says about the person as a reader. */
            readings: components["schemas"]["PersonReading"][];
            /** @description available, scheduled, running, retryable, completed, cancelled or discarded. */
            state: string;
            /** @description Title of the document. */
            title: string | null;
            /** @description Receiver. Notices about leads go to the owner of the account. */
            to: string;
        };
        PersonMailLead: {
            campaign: string | null;
            email: string;
            /** @description Title of the landing page or of its document. */
            link: string;
            name: string | null;
            /** @description Where the visitor came from. */
            source: string | null;
            /** Format: date-time */
            submitted_at: string;
        };
        PersonNotice: {
            /** Format: uuid */
            access_link_id: string;
            /** Format: date-time */
            created_at: string;
            /** @description What the reader did: finished, downloaded, returned, opened. */
            news: string[];
            /**
             * @description When the mail is sent: when the visit is over, or once a day.
             * @enum {string}
             */
            send: "each" | "daily";
            /**
             * Format: uuid
             * @description Opening of the link.
             */
            session_id: string;
            /**
             * Format: date-time
             * @description When the mail was queued, or none was wanted; null if it waits.
             */
            settled_at: string | null;
        };
        PersonReading: {
            /**
             * Format: int64
             * @description Visible time.
             */
            duration_ms: number;
            email: string;
            /** @description What the reader did: finished, downloaded, returned, opened. */
            news: string[];
            /**
             * Format: int64
             * @description Pages that were viewed.
             */
            pages: number;
            /** Format: date-time */
            started_at: string;
            /** @description Title of the document. */
            title: string;
        };
        PersonReport: {
            /** Format: uuid */
            access_link_id: string;
            /** @description Country of the visitor. */
            country: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: uuid
             * @description id of the event.
             */
            event_id: string;
            /** @enum {string} */
            event_type: "download_started" | "download_completed";
            /** @description Language of the browser. */
            language: string | null;
            /** Format: uuid */
            session_id: string;
            /** @description available, scheduled, running, retryable, completed, cancelled or discarded. */
            state: string;
            /** @description User agent of the visitor's browser. */
            user_agent: string | null;
        };
        PersonSession: {
            /** Format: uuid */
            access_link_id: string;
            /**
             * Format: int64
             * @description Visible time.
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description Null if it may go on.
             */
            ended_at: string | null;
            /**
             * Format: uuid
             * @description session_id of its events.
             */
            id: string;
            /** Format: date-time */
            last_active_at: string;
            /**
             * Format: int32
             * @description Version of the document.
             */
            magnet_version: number;
            /** @description Pages viewed. */
            pages: number[];
            /** Format: date-time */
            started_at: string;
        };
        PersonSubmission: {
            /** @description What the visitor agreed to. */
            consent_text: string | null;
            /** Format: date-time */
            consented_at: string | null;
            /** @description Address, as typed. */
            email: string;
            /** Format: date-time */
            first_viewed_at: string | null;
            /**
             * Format: uuid
             * @description Generic link that it was submitted through.
             */
            generic_link_id: string;
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            last_viewed_at: string | null;
            /** @description Name; null if none was given. */
            name: string | null;
            /** @description Privacy policy that was linked. */
            privacy_url: string | null;
            /** @description Page before the landing page, without its query. */
            referrer: string | null;
            /** Format: date-time */
            submitted_at: string;
            /** @description Parameters of the landing page's URL; null if there were none. */
            utm: {
                [key: string]: string;
            } | null;
            /**
             * Format: date-time
             * @description When the address was confirmed.
             */
            verified_at: string | null;
            /**
             * Format: int64
             * @description Views of the document.
             */
            view_count: number;
        };
        PersonVerification: {
            /** @description Address, as typed that time. */
            email: string;
            /** Format: date-time */
            expires_at: string;
            /** @description Language of the page and the mail. */
            language: string;
            /**
             * Format: date-time
             * @description When the last mail was sent.
             */
            sent_at: string;
            /** Format: uuid */
            submission_id: string;
            /**
             * Format: date-time
             * @description When it confirmed the address.
             */
            used_at: string | null;
        };
        Preview: {
            /**
             * Format: date-time
             * @description When the URL stops working as a preview.
             */
            expires_at: string;
            /** @description Full URL of the preview. Anyone with it can see the page, even while the link is not active. Nothing done there is counted or stored. */
            url: string;
        };
        Problem: {
            /**
             * @description Stable name of the kind of problem, for programs.
             * @enum {string}
             */
            code: "invalid_lead_magnet" | "slug_taken" | "limit_reached" | "validation_error" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "invalid_json" | "invalid_parameter" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "conflict" | "unavailable" | "internal";
            /** @description What went wrong in this case, and the remedy. */
            detail: string;
            /** @description The fields with errors. */
            errors?: components["schemas"]["Field"][];
            /**
             * Format: int64
             * @description The HTTP status.
             */
            status: number;
            /** @description Summary of the kind of problem, the same for every occurrence. */
            title: string;
            /** @description URI reference that identifies the kind of problem. */
            type: string;
        };
        Question: {
            /**
             * @description Add the numbers of as many calendar units before.
             * @enum {string}
             */
            compare?: "previous";
            /** @description Divide by values, at most two. */
            dimensions?: ("access_link_id" | "bot" | "browser" | "country" | "device" | "email_domain" | "event_type" | "generic_link_id" | "hour_of_day" | "language" | "lead_magnet_id" | "magnet_version" | "os" | "page" | "referrer_host" | "utm_campaign" | "utm_content" | "utm_medium" | "utm_source" | "utm_term" | "weekday")[];
            /** @description Leave out what has one of the values in any dimension. */
            exclude?: components["schemas"]["Values"];
            /** @description Count only what has one of the values in each dimension. */
            filters?: components["schemas"]["Values"];
            /** @description Start of the range: a date of the time zone, or an RFC 3339 time. Default: 30 days before its end. */
            from?: string;
            /** @description Your name for the question; the answer repeats it. */
            id?: string;
            /** @description Count bots as well. */
            include_bots?: boolean;
            /**
             * @description Divide the range by calendar units. Weeks begin on Monday. Intervals without data are included.
             * @enum {string}
             */
            interval?: "hour" | "day" | "week" | "month";
            /**
             * Format: int64
             * @description Values that get a row of their own. All others are one more row, other.
             * @default 100
             */
            limit?: number;
            /** @description What to count. Required, unless the body has queries. */
            metrics?: ("attentive" | "confirmations" | "download_rate" | "downloads" | "downloads_started" | "events" | "finish_rate" | "finished" | "link_views" | "median_page_ms" | "open_rate" | "p90_page_ms" | "page_views" | "people" | "people_download_rate" | "people_downloaded" | "people_finish_rate" | "people_finished" | "people_without_form" | "readers" | "reading_ms" | "sessions" | "submission_rate" | "submissions" | "verified" | "visitors")[];
            /**
             * @description One of the metrics; - before it puts the highest first. Default: the first metric, highest first.
             * @enum {string}
             */
            order_by?: "attentive" | "confirmations" | "download_rate" | "downloads" | "downloads_started" | "events" | "finish_rate" | "finished" | "link_views" | "median_page_ms" | "open_rate" | "p90_page_ms" | "page_views" | "people" | "people_download_rate" | "people_downloaded" | "people_finish_rate" | "people_finished" | "people_without_form" | "readers" | "reading_ms" | "sessions" | "submission_rate" | "submissions" | "verified" | "visitors" | "-attentive" | "-confirmations" | "-download_rate" | "-downloads" | "-downloads_started" | "-events" | "-finish_rate" | "-finished" | "-link_views" | "-median_page_ms" | "-open_rate" | "-p90_page_ms" | "-page_views" | "-people" | "-people_download_rate" | "-people_downloaded" | "-people_finish_rate" | "-people_finished" | "-people_without_form" | "-readers" | "-reading_ms" | "-sessions" | "-submission_rate" | "-submissions" | "-verified" | "-visitors";
            /** @description IANA time zone of dates and intervals. Default: UTC. */
            timezone?: string;
            /** @description End of the range, exclusive. Default: the end of today. */
            to?: string;
        };
        QuestionAnswer: {
            /**
             * Format: date-time
             * @description Everything stored until then is included. Newer events may be.
             */
            as_of: string;
            /**
             * Format: int64
             * @description Events and views of bots that match range and filters, and were left out.
             */
            excluded_bots: number;
            /** @description The id of the question. */
            id: string | null;
            /** @description Titles or slugs of the ids in the rows. */
            labels: {
                [key: string]: string;
            };
            /** @description By time, then by order_by. The row other has all values without a row of their own; distinct counts of it are counted, so rows need not add up to totals. */
            rows: {
                [key: string]: unknown;
            }[];
            /** @description The metrics over the whole range, counted rather than summed. */
            totals: {
                [key: string]: unknown;
            };
        };
        QuestionLimits: {
            /**
             * Format: int64
             * @description Dimensions of a question.
             */
            dimensions: number;
            /**
             * Format: int64
             * @description Intervals of a range.
             */
            intervals: number;
            /**
             * Format: int64
             * @description Highest limit, and so rows of an interval without the row other.
             */
            limit: number;
            /**
             * Format: int64
             * @description Metrics of a question.
             */
            metrics: number;
            /**
             * Format: int64
             * @description Questions in one request.
             */
            queries: number;
            /**
             * Format: int64
             * @description Rows of an answer.
             */
            rows: number;
            /**
             * Format: int64
             * @description Values of a filter.
             */
            values: number;
        };
        QuestionSchema: {
            /** @description All dimensions. */
            dimensions: components["schemas"]["Dimension"][];
            /** @description Units of the calendar that divide a range. */
            intervals: ("hour" | "day" | "week" | "month")[];
            /** @description Maximum numbers. */
            limits: components["schemas"]["QuestionLimits"];
            /** @description All metrics. */
            metrics: components["schemas"]["Metric"][];
        };
        Questions: {
            /**
             * @description Add the numbers of as many calendar units before.
             * @enum {string}
             */
            compare?: "previous";
            /** @description Divide by values, at most two. */
            dimensions?: ("access_link_id" | "bot" | "browser" | "country" | "device" | "email_domain" | "event_type" | "generic_link_id" | "hour_of_day" | "language" | "lead_magnet_id" | "magnet_version" | "os" | "page" | "referrer_host" | "utm_campaign" | "utm_content" | "utm_medium" | "utm_source" | "utm_term" | "weekday")[];
            /** @description Leave out what has one of the values in any dimension. */
            exclude?: components["schemas"]["Values"];
            /** @description Count only what has one of the values in each dimension. */
            filters?: components["schemas"]["Values"];
            /** @description Start of the range: a date of the time zone, or an RFC 3339 time. Default: 30 days before its end. */
            from?: string;
            /** @description Your name for the question; the answer repeats it. */
            id?: string;
            /** @description Count bots as well. */
            include_bots?: boolean;
            /**
             * @description Divide the range by calendar units. Weeks begin on Monday. Intervals without data are included.
             * @enum {string}
             */
            interval?: "hour" | "day" | "week" | "month";
            /**
             * Format: int64
             * @description Values that get a row of their own. All others are one more row, other.
             * @default 100
             */
            limit?: number;
            /** @description What to count. Required, unless the body has queries. */
            metrics?: ("attentive" | "confirmations" | "download_rate" | "downloads" | "downloads_started" | "events" | "finish_rate" | "finished" | "link_views" | "median_page_ms" | "open_rate" | "p90_page_ms" | "page_views" | "people" | "people_download_rate" | "people_downloaded" | "people_finish_rate" | "people_finished" | "people_without_form" | "readers" | "reading_ms" | "sessions" | "submission_rate" | "submissions" | "verified" | "visitors")[];
            /**
             * @description One of the metrics; - before it puts the highest first. Default: the first metric, highest first.
             * @enum {string}
             */
            order_by?: "attentive" | "confirmations" | "download_rate" | "downloads" | "downloads_started" | "events" | "finish_rate" | "finished" | "link_views" | "median_page_ms" | "open_rate" | "p90_page_ms" | "page_views" | "people" | "people_download_rate" | "people_downloaded" | "people_finish_rate" | "people_finished" | "people_without_form" | "readers" | "reading_ms" | "sessions" | "submission_rate" | "submissions" | "verified" | "visitors" | "-attentive" | "-confirmations" | "-download_rate" | "-downloads" | "-downloads_started" | "-events" | "-finish_rate" | "-finished" | "-link_views" | "-median_page_ms" | "-open_rate" | "-p90_page_ms" | "-page_views" | "-people" | "-people_download_rate" | "-people_downloaded" | "-people_finish_rate" | "-people_finished" | "-people_without_form" | "-readers" | "-reading_ms" | "-sessions" | "-submission_rate" | "-submissions" | "-verified" | "-visitors";
            /** @description Several questions, which are answered from one state of the data. No other field may be given with it. */
            queries?: components["schemas"]["Question"][];
            /** @description IANA time zone of dates and intervals. Default: UTC. */
            timezone?: string;
            /** @description End of the range, exclusive. Default: the end of today. */
            to?: string;
        };
        Reader: {
            /** @description Access links with events that count. */
            access_links: string[];
            /**
             * Format: int64
             * @description Completed downloads.
             */
            downloads: number;
            /** @description Address, as typed for the newest of the access links; null if they were deleted. */
            email: string | null;
            /** @description Whether the last page of some version of a document was viewed. */
            finished: boolean;
            /**
             * Format: date-time
             * @description First event; null if there is none.
             */
            first_seen_at: string | null;
            /**
             * Format: date-time
             * @description Last event; null if there is none.
             */
            last_seen_at: string | null;
            /** @description Lead magnets of the events; labels has their titles. */
            magnets: string[];
            /**
             * Format: int64
             * @description Views of pages.
             */
            page_views: number;
            /**
             * Format: int64
             * @description Different pages viewed, of all versions of all lead magnets.
             */
            pages: number;
            /**
             * Format: uuid
             * @description The person behind an address: the same for all access links of it. An access link that was deleted stands for a person of its own.
             */
            person_id: string;
            /**
             * Format: int64
             * @description Sum of the visible times of these views, in milliseconds.
             */
            reading_ms: number;
            /**
             * Format: int64
             * @description How interested the person seems: the sum of score_parts.
             */
            score: number;
            score_parts: components["schemas"]["ReaderScore"];
            /**
             * Format: int64
             * @description Openings with a page view.
             */
            sessions: number;
            /** @description Where the person came from first: the source of their first submission. */
            source: components["schemas"]["ReaderSource"];
        };
        ReaderDownload: {
            /** Format: date-time */
            created_at: string;
            /** @enum {string} */
            event_type: "page_viewed" | "download_started" | "download_completed";
        };
        ReaderLink: {
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires; null for never.
             */
            expires_at: string | null;
            /**
             * Format: uuid
             * @description Generic link that it came from.
             */
            generic_link_id: string | null;
            /** Format: uuid */
            id: string;
            /** @description Whether it can be opened. */
            is_active: boolean;
            /** Format: uuid */
            lead_magnet_id: string;
            /**
             * Format: int32
             * @description How many times it can be opened; null for no limit.
             */
            max_views: number | null;
            /**
             * @description How its URL was handed out. One that a form showed (form) may be read by whoever typed the address.
             * @enum {string}
             */
            source: "api" | "mail" | "form";
            /**
             * Format: uuid
             * @description Submission that it was created for.
             */
            submission_id: string | null;
        };
        ReaderPage: {
            /**
             * Format: date-time
             * @description Everything stored until then is included. Newer events may be. Pages that are requested by cursor have the time of the first page.
             */
            as_of: string;
            data: components["schemas"]["Reader"][];
            /**
             * Format: int64
             * @description Events of bots that match the filters on events and were left out: min_pages, reached, stopped_at, finished, downloaded and from_form are about people.
             */
            excluded_bots: number;
            /** @description Titles of the lead magnets. */
            labels: {
                [key: string]: string;
            };
            pagination: components["schemas"]["CursorPagination"];
        };
        ReaderScore: {
            /**
             * Format: int64
             * @description 1 for each 24 seconds of reading, at most 25. Of one view, at most a minute counts.
             */
            attention: number;
            /**
             * Format: int64
             * @description 10 if a download was completed.
             */
            downloads: number;
            /**
             * Format: int64
             * @description 40 if the last page of a document was viewed.
             */
            finished: number;
            /**
             * Format: int64
             * @description 10 if the last event is less than 7 days before as_of, 5 if less than 30 days.
             */
            recency: number;
            /**
             * Format: int64
             * @description 5 for each session after the first, at most 15.
             */
            returns: number;
        };
        ReaderSession: {
            /** Format: uuid */
            access_link_id: string;
            /** @description Kind of device: desktop, mobile, tablet, other or unknown. */
            device: string;
            /** @description Downloads that began or were completed, in the order of time. */
            downloads: components["schemas"]["ReaderDownload"][];
            /** Format: date-time */
            last_event_at: string;
            /** Format: uuid */
            lead_magnet_id: string;
            /**
             * Format: int64
             * @description Views of pages.
             */
            page_views: number;
            /**
             * Format: int64
             * @description Different pages viewed.
             */
            pages: number;
            /**
             * Format: int64
             * @description Sum of the visible times, in milliseconds.
             */
            reading_ms: number;
            /**
             * Format: uuid
             * @description Null for an event that was sent without a session, which is a session by itself.
             */
            session_id: string | null;
            /**
             * Format: date-time
             * @description First event.
             */
            started_at: string;
            /** @description Null if withheld. */
            user_agent: string | null;
            /** @description Page views, in the order of time. */
            visits: components["schemas"]["PageVisit"][];
        };
        ReaderSource: {
            /** @description Host of the page before the landing page. */
            referrer_host: string | null;
            utm_campaign: string | null;
            utm_content: string | null;
            utm_medium: string | null;
            utm_source: string | null;
            utm_term: string | null;
        };
        ReaderStory: {
            /**
             * Format: uuid
             * @description Access link that was asked for.
             */
            access_link_id: string;
            /** @description Access links of the address, oldest first. Empty if the access link was deleted: then its events alone are the story. */
            access_links: components["schemas"]["ReaderLink"][];
            /**
             * Format: date-time
             * @description Everything stored until then is included. Newer events may be.
             */
            as_of: string;
            /** @description Address, as typed for the newest of the access links; null if the access link was deleted. */
            email: string | null;
            /**
             * Format: int64
             * @description Events of bots that were left out.
             */
            excluded_bots: number;
            /** @description Titles of the lead magnets. */
            labels: {
                [key: string]: string;
            };
            /**
             * Format: uuid
             * @description The person behind its address; the access link itself if it was deleted.
             */
            person_id: string;
            /** @description Sessions by all access links, newest first, at most 500. Those with nothing but downloads are listed, but not counted in totals. */
            sessions: components["schemas"]["ReaderSession"][];
            /** @description Where the person came from first: the source of their first submission. */
            source: components["schemas"]["ReaderSource"];
            /** @description Submission that the access link was created for; null if there is none. */
            submission: components["schemas"]["ReaderSubmission"] | null;
            /** @description All submissions that the access links were created for, oldest first. */
            submissions: components["schemas"]["ReaderSubmission"][];
            /** @description What the person did, by all access links. */
            totals: components["schemas"]["ReaderTotals"];
            /** @description Whether there are more than 500 sessions, or more than 5,000 visits and downloads. Then older sessions, and visits and downloads of older sessions or at the end of a long one, are left out. Numbers count them. */
            truncated: boolean;
        };
        ReaderSubmission: {
            /** @description What the visitor agreed to, as it was shown. */
            consent_text: string | null;
            /**
             * Format: date-time
             * @description When the visitor agreed to consent_text; null if there was none.
             */
            consented_at: string | null;
            /** @description Email address, as typed. */
            email: string;
            /** Format: uuid */
            generic_link_id: string;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            lead_magnet_id: string;
            /** @description Name; null if none was given, or the generic link does not collect names. */
            name: string | null;
            /** @description Privacy policy that was linked. */
            privacy_url: string | null;
            /** @description Page before the landing page, without its query. */
            referrer: string | null;
            /**
             * @description State: the address must be verified first, the document can be read, or it was read.
             * @enum {string}
             */
            state: "awaiting_verification" | "ready" | "viewed";
            /** Format: date-time */
            submitted_at: string;
            /** @description Parameters of the landing page's URL, such as utm_source; null if there were none. */
            utm: {
                [key: string]: string;
            } | null;
            /** @description Whether the address was verified. */
            verified: boolean;
            /** Format: date-time */
            verified_at: string | null;
        };
        ReaderTotals: {
            /**
             * Format: int64
             * @description Completed downloads.
             */
            downloads: number;
            /** @description Whether the last page of some version of a document was viewed. */
            finished: boolean;
            /**
             * Format: date-time
             * @description First event; null if there is none.
             */
            first_seen_at: string | null;
            /**
             * Format: date-time
             * @description Last event; null if there is none.
             */
            last_seen_at: string | null;
            /** @description Lead magnets of the events; labels has their titles. */
            magnets: string[];
            /**
             * Format: int64
             * @description Views of pages.
             */
            page_views: number;
            /**
             * Format: int64
             * @description Different pages viewed, of all versions of all lead magnets.
             */
            pages: number;
            /**
             * Format: int64
             * @description Sum of the visible times of these views, in milliseconds.
             */
            reading_ms: number;
            /**
             * Format: int64
             * @description How interested the person seems: the sum of score_parts.
             */
            score: number;
            score_parts: components["schemas"]["ReaderScore"];
            /**
             * Format: int64
             * @description Openings with a page view.
             */
            sessions: number;
        };
        Removed: {
            /**
             * Format: int64
             * @description Personal links. Their events are blanked.
             */
            access_links: number;
            /**
             * Format: int64
             * @description Messages to chat channels that waited.
             */
            chat_messages: number;
            /**
             * Format: int64
             * @description Downloads in these sessions.
             */
            downloads: number;
            /**
             * Format: int64
             * @description Mails to the address that waited, and notices about it to the owner.
             */
            mails: number;
            /**
             * Format: int64
             * @description Openings of these links.
             */
            sessions: number;
            /**
             * Format: int64
             * @description Forms that were sent with the address.
             */
            submissions: number;
            /**
             * Format: int64
             * @description Messages to webhooks whose bodies and answers were removed. What was delivered is with its receiver.
             */
            webhook_deliveries: number;
        };
        RetentionReport: {
            /**
             * Format: date-time
             * @description Everything stored until then is included. Newer events may be.
             */
            as_of: string;
            /** @description The cohorts that have readers, from the first one on. */
            data: components["schemas"]["Cohort"][];
            /**
             * Format: int64
             * @description Page views of bots in the period that were left out.
             */
            excluded_bots: number;
        };
        Return: {
            /**
             * Format: int64
             * @description Intervals after the one of the first read.
             */
            after: number;
            /** @description true: the interval is not over. */
            partial?: boolean;
            /**
             * Format: double
             * @description readers, divided by the size of the cohort.
             */
            rate: number;
            /**
             * Format: int64
             * @description Readers of the cohort with a page view in the interval.
             */
            readers: number;
            /**
             * Format: date-time
             * @description Start of the interval, with its offset.
             */
            time: string;
        };
        Session: {
            /** @description Whether it is the session that asks. */
            current: boolean;
            /** @description Address of the person; null if an API key signed in. */
            email: string | null;
            /**
             * Format: date-time
             * @description When it ends if no page is opened: 12 hours after the last one, and 30 days after it began at the latest.
             */
            ends_at: string;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the API key that signed in, which the session ends with; null for a person.
             */
            key_id: string | null;
            /**
             * Format: date-time
             * @description When the last page was opened, accurate to a minute.
             */
            last_active_at: string;
            /**
             * @description How they signed in: by a mailed link or code, by an API key, by the link that lodestone up prints, by an invitation, or by OpenID Connect.
             * @enum {string}
             */
            method: "mail" | "key" | "link" | "invitation" | "openid";
            /**
             * Format: date-time
             * @description When they signed in.
             */
            started_at: string;
            /** @description Name that the browser gave itself. */
            user_agent: string;
            /**
             * Format: uuid
             * @description Id of the person; null if an API key signed in.
             */
            user_id: string | null;
        };
        Share: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires; null for never.
             */
            expires_at: string | null;
            /** @description Whether its page asks for a password. */
            has_password: boolean;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * Format: date-time
             * @description When its page was last shown; null for never.
             */
            last_viewed_at: string | null;
            /**
             * Format: uuid
             * @description Lead magnet whose statistics it shows.
             */
            lead_magnet_id: string;
            /** @description Name of the link, which its page does not show. */
            name: string | null;
            /**
             * Format: int64
             * @description How often its page was shown.
             */
            view_count: number;
        };
        State: {
            /** @description Origins of pages that may show the form: change them with PATCH of the link. */
            allowed_origins: string[];
            /** @description What a Content-Security-Policy of your page has to allow. */
            content_security_policy: string;
            /**
             * Format: date-time
             * @description When a page of another origin last asked for the form, accurate to a minute; null for never.
             */
            last_refused_at: string | null;
            /** @description Origin of that page. */
            last_refused_origin: string | null;
            /**
             * Format: date-time
             * @description When a page of an allowed origin last loaded the form, accurate to a minute; null for never.
             */
            last_seen_at: string | null;
            /** @description Origin of that page. */
            last_seen_origin: string | null;
            /** @description HTML for your own page, which shows the form. */
            script: string;
        };
        Submission: {
            /**
             * Format: date-time
             * @description When the visitor agreed to the link's consent_text; null if there was none.
             */
            consented_at: string | null;
            /** @description Email address, as typed. */
            email: string;
            /**
             * Format: date-time
             * @description When the document was first viewed.
             */
            first_viewed_at: string | null;
            /**
             * Format: uuid
             * @description Generic link that it was submitted through.
             */
            generic_link_id: string;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * Format: date-time
             * @description When the document was last viewed.
             */
            last_viewed_at: string | null;
            /** @description Name; only if the link collects names. */
            name?: string | null;
            /**
             * @description State: the address must be verified first, the document can be read, or it was read.
             * @enum {string}
             */
            state: "awaiting_verification" | "ready" | "viewed";
            /**
             * Format: date-time
             * @description When it was created.
             */
            submitted_at: string;
            /** @description Parameters of the landing page's URL, such as utm_source; null if there were none. */
            utm: {
                [key: string]: string;
            } | null;
            /** @description Whether the address was verified. */
            verified: boolean;
            /**
             * Format: int64
             * @description Views so far.
             */
            view_count: number;
            /** @description Whether the document was viewed. */
            viewed: boolean;
        };
        Template: {
            /** @description Value of utm_campaign; null: the parameter is left out. */
            campaign: string | null;
            /** @description Value of utm_content; null: the parameter is left out. */
            content: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /** @description Value of utm_medium; null: the parameter is left out. */
            medium: string | null;
            /** @description Name of the template. */
            name: string;
            /** @description Value of utm_source; null: the parameter is left out. */
            source: string | null;
            /** @description Value of utm_term; null: the parameter is left out. */
            term: string | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
            /** @description URL of the generic link that generic_link_id names, with the parameters; null without generic_link_id. */
            url: string | null;
        };
        Tracking: {
            /** @description HTML that does the same without scripts. null if script is null. */
            pixel: string | null;
            /** @description HTML for your own page, which counts the page's views as the link's. null if the collector's address is not configured. */
            script: string | null;
            /** @description Token with which views of the link's page are sent to the collector. It never changes and is not secret, because pages contain it. */
            tracking_token: string;
        };
        Trial: {
            /** @description Why it did not; null if it did. */
            error: string | null;
            /** @description Whether the channel took the message. */
            sent: boolean;
        };
        Usage: {
            /**
             * Format: int64
             * @description Access links, active or not.
             */
            access_links: number;
            /**
             * Format: int64
             * @description Events stored in this calendar month (UTC), as of the last count, which is less than a minute old.
             */
            events_this_month: number;
            /**
             * Format: int64
             * @description Generic links, active or not.
             */
            generic_links: number;
            /**
             * Format: int64
             * @description Working API keys.
             */
            keys: number;
            /**
             * Format: int64
             * @description Lead magnets.
             */
            lead_magnets: number;
            /**
             * Format: int64
             * @description Total size of their files in bytes, including replaced versions that are still being read.
             */
            stored_bytes: number;
        };
        User: {
            /**
             * Format: date-time
             * @description When the person joined the account.
             */
            created_at: string;
            /** @description Address that the person signs in with. */
            email: string;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /**
             * Format: date-time
             * @description When the person last opened a page of the dashboard, accurate to a minute; null for never.
             */
            last_seen_at: string | null;
            /**
             * @description What the person may do: an owner everything, an editor everything but managing people and keys, an analyst reads.
             * @enum {string}
             */
            role: "owner" | "editor" | "analyst";
        };
        Values: {
            access_link_id?: string[];
            bot?: boolean[];
            /** @description Such as Chrome or Safari. */
            browser?: (string | null)[];
            /** @description Codes of two letters, such as DE. */
            country?: (string | null)[];
            device?: ("desktop" | "mobile" | "tablet" | "other" | "unknown" | "bot")[];
            email_domain?: (string | null)[];
            event_type?: ("page_viewed" | "download_started" | "download_completed")[];
            generic_link_id?: (string | null)[];
            hour_of_day?: number[];
            /** @description Codes of two or three letters, such as de. */
            language?: (string | null)[];
            lead_magnet_id?: string[];
            magnet_version?: number[];
            /** @description Such as Windows or iOS. */
            os?: (string | null)[];
            page?: (number | null)[];
            referrer_host?: (string | null)[];
            utm_campaign?: (string | null)[];
            utm_content?: (string | null)[];
            utm_medium?: (string | null)[];
            utm_source?: (string | null)[];
            utm_term?: (string | null)[];
            /** @description 1 is Monday. */
            weekday?: number[];
        };
        Version: {
            /** @description Name of the file. */
            file_name: string;
            /**
             * Format: int64
             * @description Size of the file in bytes.
             */
            file_size: number;
            /**
             * Format: int32
             * @description Pages of the file.
             */
            page_count: number;
            /** @description Whether the file is still stored. A replaced one is deleted once it is not read any more. */
            stored: boolean;
            /**
             * Format: int32
             * @description Page that the browser of a reader could not show, the first of several; 0 for the whole document. null: no browser reported one.
             */
            unreadable_page: number | null;
            /**
             * Format: date-time
             * @description When it was uploaded.
             */
            uploaded_at: string;
            /**
             * Format: int32
             * @description Number of the version, from 1.
             */
            version: number;
        };
        Webhook: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description Purpose of the webhook. */
            description: string | null;
            /**
             * Format: date-time
             * @description When it was disabled.
             */
            disabled_at: string | null;
            /** @description Why it was disabled. */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description When the first message after the last success failed; null if none has.
             */
            failing_since: string | null;
            /**
             * Format: uuid
             * @description Unique identifier.
             */
            id: string;
            /** @description Whether messages are sent. */
            is_active: boolean;
            /** @description Kinds of events that are sent to it. */
            kinds: ("link.created" | "link.accessed" | "form.submitted" | "form.verified" | "session.ended" | "download.completed")[];
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
            /** @description URL that messages are sent to. */
            url: string;
        };
        WeeklyReport: {
            /** @description Address that the report goes to. */
            email: string;
            /** @description Whether it is sent on Mondays, after 07:00 in the account's time zone. Until someone sets it, owners get it and others do not. */
            enabled: boolean;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "list-access-links": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
                /** @description Only links to this lead magnet. */
                lead_magnet_id?: string;
                /** @description Only links of this email address, case-insensitive. */
                email?: string;
                /** @description Only links created for this submission. */
                submission_id?: string;
                /** @description true: only active links; false: only inactive links. */
                is_active?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageAccessLink"];
                };
            };
        };
    };
    "create-access-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAccessLink"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessLink"];
                };
            };
        };
    };
    "get-access-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Id of the access link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessLink"];
                };
            };
        };
    };
    "delete-access-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the access link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "update-access-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the access link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedAccessLink"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessLink"];
                };
            };
        };
    };
    "preview-access-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the access link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LinkPreview"];
                };
            };
        };
    };
    "get-access-link-qr": {
        parameters: {
            query?: {
                /** @description Format of the picture. SVG scales without loss, for print. */
                format?: "svg" | "png";
                /** @description Width and height in pixels, with the quiet zone. An SVG scales from there. */
                size?: number;
            };
            header?: never;
            path: {
                /** @description Id of the access link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": Blob;
                    "image/svg+xml": string;
                };
            };
        };
    };
    "get-account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    "update-account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedAccount"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    "get-logo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Logo"];
                };
            };
        };
    };
    "upload-logo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "image/gif": Blob;
                "image/jpeg": Blob;
                "image/png": Blob;
                "image/webp": Blob;
                "multipart/form-data": {
                    /** Format: binary */
                    file: Blob;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Logo"];
                };
            };
        };
    };
    "delete-logo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "list-analytics-events": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
                /** @description Where to continue: the next_cursor of the previous answer. Cannot be combined with page. */
                cursor?: string;
                /** @description Only events of this access link. */
                access_link_id?: string;
                /** @description Only events of this lead magnet. */
                lead_magnet_id?: string;
                /** @description Only events of this type. */
                event_type?: "page_viewed" | "download_started" | "download_completed";
                /** @description Only events created at or after this time (ISO 8601). */
                from?: string;
                /** @description Only events created before this time (ISO 8601). */
                to?: string;
                /** @description Only events that entered this list after this time (ISO 8601), whenever they happened. To fetch new events without missing any, send the pagination.next_received_after of the previous fetch. */
                received_after?: string;
                /** @description true: only events of bots; false: no events of bots. */
                bot?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    "get-email-summary": {
        parameters: {
            query: {
                /** @description Email address to summarise, case-insensitive. */
                email: string;
                /** @description Only links to this lead magnet; zeros if it does not exist. */
                lead_magnet_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailSummary"];
                };
            };
        };
    };
    "export-analytics-events": {
        parameters: {
            query?: {
                /** @description Format of the file. */
                format?: "csv" | "ndjson" | "parquet";
                /** @description Whether a CSV file begins with a byte order mark, without which Excel shows letters that are not ASCII wrong. */
                bom?: boolean;
                /** @description Whether to add the columns browser, os, country and language. */
                visitor?: boolean;
                /** @description Only events of this access link. */
                access_link_id?: string;
                /** @description Only events of this lead magnet. */
                lead_magnet_id?: string;
                /** @description Only events of this type. */
                event_type?: "page_viewed" | "download_started" | "download_completed";
                /** @description Only events created at or after this time (ISO 8601). */
                from?: string;
                /** @description Only events created before this time (ISO 8601). */
                to?: string;
                /** @description Only events that entered this list after this time (ISO 8601), whenever they happened. To fetch new events without missing any, send the pagination.next_received_after of the previous fetch. */
                received_after?: string;
                /** @description true: only events of bots; false: no events of bots. */
                bot?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": Blob;
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
        };
    };
    "get-funnel": {
        parameters: {
            query?: {
                /** @description Only this lead magnet. An unknown one has zeros. */
                lead_magnet_id?: string;
                /** @description Only this generic link. Access links of the API have none. */
                generic_link_id?: string;
                /** @description Only views and submissions with this utm_source. Access links of the API have none. */
                utm_source?: string;
                /** @description Likewise. */
                utm_medium?: string;
                /** @description Likewise. */
                utm_campaign?: string;
                /** @description Likewise. */
                utm_content?: string;
                /** @description Likewise. */
                utm_term?: string;
                /** @description Only views, submissions and first openings at or after this time (ISO 8601). */
                from?: string;
                /** @description Only views, submissions and first openings before this time (ISO 8601). What people did later counts as well. */
                to?: string;
            };
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FunnelReport"];
                };
            };
        };
    };
    "stream-analytics-events": {
        parameters: {
            query?: {
                /** @description Only events of this access link. */
                access_link_id?: string;
                /** @description Only events of this lead magnet. */
                lead_magnet_id?: string;
                /** @description Only events of this type. */
                event_type?: "page_viewed" | "download_started" | "download_completed";
                /** @description Only events created at or after this time (ISO 8601). */
                from?: string;
                /** @description Only events created before this time (ISO 8601). */
                to?: string;
                /** @description Only events that entered this list after this time (ISO 8601), whenever they happened. To fetch new events without missing any, send the pagination.next_received_after of the previous fetch. */
                received_after?: string;
                /** @description true: only events of bots; false: no events of bots. */
                bot?: boolean;
                /** @description As the header Last-Event-ID, for clients that cannot set it. The header takes precedence. */
                last_event_id?: string;
            };
            header?: {
                /** @description The id of the last message that you received. The stream continues behind it, without loss or repeats. Without it, the stream begins with the next event that is stored. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    "get-current-readers": {
        parameters: {
            query?: {
                /** @description How long ago the last visit to a page may have ended. */
                minutes?: number;
            };
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NowReport"];
                };
            };
        };
    };
    "get-page-report": {
        parameters: {
            query: {
                /** @description Lead magnet whose pages are reported. An unknown one has no pages. */
                lead_magnet_id: string;
                /** @description Version of the document. Default: the newest version that was read in the period. */
                magnet_version?: number;
                /** @description Only page views at or after this time (ISO 8601). */
                from?: string;
                /** @description Only page views before this time (ISO 8601). */
                to?: string;
            };
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageReport"];
                };
            };
        };
    };
    "query-analytics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Questions"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answers"];
                };
            };
        };
    };
    "list-readers": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
                /** @description Where to continue: the next_cursor of the previous answer. Cannot be combined with page. */
                cursor?: string;
                /** @description Only people whose address has this text in it, in its local part or its domain. Case-insensitive. */
                q?: string;
                /** @description Count only events of this lead magnet, and list only people with such page views. */
                lead_magnet_id?: string;
                /** @description Count only events of access links that came from this generic link, and list only people with such page views. */
                generic_link_id?: string;
                /** @description Count only events of access links with this utm_source, and list only people with such page views. */
                utm_source?: string;
                /** @description Likewise, by the host of the page before the landing page. */
                referrer_host?: string;
                /** @description Count only events of access links that have no such source. */
                without?: "utm_source" | "referrer_host";
                /** @description Count only events of such a device: desktop, mobile, tablet, other or unknown. */
                device?: string;
                /** @description Count only events of this version of a document. 0: not known. */
                magnet_version?: number;
                /** @description Only people who viewed at least as many different pages. */
                min_pages?: number;
                /** @description Only people whose furthest page of a document is this one or a later one. Name the lead magnet, and the version if it has several. */
                reached?: number;
                /** @description Likewise, only people whose furthest page is this one. */
                stopped_at?: number;
                /** @description true: only people who viewed the last page of a document; false: only others. */
                finished?: boolean;
                /** @description true: only people who completed a download; false: only others. */
                downloaded?: boolean;
                /** @description true: only people who viewed a page by an access link that a form gave them; false: only people whose links the API made. */
                from_form?: boolean;
                /** @description Count only events at or after this time (ISO 8601). */
                from?: string;
                /** @description Count only events before this time (ISO 8601). */
                to?: string;
                /** @description What to order by; - before it puts the highest first. Ties by person_id. */
                sort?: "-last_seen_at" | "last_seen_at" | "-score" | "score" | "-reading_ms" | "reading_ms" | "-downloads" | "downloads";
            };
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReaderPage"];
                };
            };
        };
    };
    "export-readers": {
        parameters: {
            query?: {
                /** @description Format of the file. */
                format?: "csv" | "ndjson" | "parquet";
                /** @description Whether a CSV file begins with a byte order mark, without which Excel shows letters that are not ASCII wrong. */
                bom?: boolean;
                /** @description Only people whose address has this text in it, in its local part or its domain. Case-insensitive. */
                q?: string;
                /** @description Count only events of this lead magnet, and list only people with such page views. */
                lead_magnet_id?: string;
                /** @description Count only events of access links that came from this generic link, and list only people with such page views. */
                generic_link_id?: string;
                /** @description Count only events of access links with this utm_source, and list only people with such page views. */
                utm_source?: string;
                /** @description Likewise, by the host of the page before the landing page. */
                referrer_host?: string;
                /** @description Count only events of access links that have no such source. */
                without?: "utm_source" | "referrer_host";
                /** @description Count only events of such a device: desktop, mobile, tablet, other or unknown. */
                device?: string;
                /** @description Count only events of this version of a document. 0: not known. */
                magnet_version?: number;
                /** @description Only people who viewed at least as many different pages. */
                min_pages?: number;
                /** @description Only people whose furthest page of a document is this one or a later one. Name the lead magnet, and the version if it has several. */
                reached?: number;
                /** @description Likewise, only people whose furthest page is this one. */
                stopped_at?: number;
                /** @description true: only people who viewed the last page of a document; false: only others. */
                finished?: boolean;
                /** @description true: only people who completed a download; false: only others. */
                downloaded?: boolean;
                /** @description true: only people who viewed a page by an access link that a form gave them; false: only people whose links the API made. */
                from_form?: boolean;
                /** @description Count only events at or after this time (ISO 8601). */
                from?: string;
                /** @description Count only events before this time (ISO 8601). */
                to?: string;
                /** @description What to order by; - before it puts the highest first. Ties by person_id. */
                sort?: "-last_seen_at" | "last_seen_at" | "-score" | "score" | "-reading_ms" | "reading_ms" | "-downloads" | "downloads";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": Blob;
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
        };
    };
    "get-reader": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Id of an access link of the person. */
                access_link_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReaderStory"];
                };
            };
        };
    };
    "get-retention": {
        parameters: {
            query: {
                /** @description Lead magnet whose readers are reported. An unknown one has none. */
                lead_magnet_id: string;
                /** @description Interval of the cohorts and of the returns. Weeks begin on Monday. */
                by?: "day" | "week" | "month";
                /** @description IANA time zone of dates and intervals. */
                timezone?: string;
                /** @description Only readers who first read at or after this time: a date of the time zone, or an RFC 3339 time. */
                from?: string;
                /** @description Only readers who first read before this time. */
                to?: string;
            };
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionReport"];
                };
            };
        };
    };
    "get-analytics-schema": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuestionSchema"];
                };
            };
        };
    };
    "list-audit-log": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
                /** @description Only what this person did. */
                user_id?: string;
                /** @description Only what was done to this object. */
                object_id?: string;
                /** @description Only this action. */
                action?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageEntry"];
                };
            };
        };
    };
    "list-chat-channels": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageChannel"];
                };
            };
        };
    };
    "create-chat-channel": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewChannel"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    "get-chat-channel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the chat channel. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    "delete-chat-channel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the chat channel. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "update-chat-channel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the chat channel. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedChannel"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    "test-chat-channel": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the chat channel. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trial"];
                };
            };
        };
    };
    "get-erasure": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonErasure"];
                };
            };
        };
    };
    "list-generic-links": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
                /** @description The order: newest first (-created_at), or oldest first (created_at). */
                sort?: "-created_at" | "created_at";
                /** @description Only links of this lead magnet; none if it does not exist. */
                lead_magnet_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageGenericLink"];
                };
            };
        };
    };
    "create-generic-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGenericLink"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GenericLink"];
                };
            };
        };
    };
    "get-generic-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GenericLink"];
                };
            };
        };
    };
    "delete-generic-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "update-generic-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedGenericLink"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GenericLink"];
                };
            };
        };
    };
    "get-generic-link-embed": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["State"];
                };
            };
        };
    };
    "preview-generic-link": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
        };
    };
    "get-generic-link-qr": {
        parameters: {
            query?: {
                /** @description Format of the picture. SVG scales without loss, for print. */
                format?: "svg" | "png";
                /** @description Width and height in pixels, with the quiet zone. An SVG scales from there. */
                size?: number;
                /** @description utm_source of the address in the code. */
                utm_source?: string;
                /** @description utm_medium of the address in the code. */
                utm_medium?: string;
                /** @description utm_campaign of the address in the code. */
                utm_campaign?: string;
                /** @description utm_content of the address in the code. */
                utm_content?: string;
                /** @description utm_term of the address in the code. */
                utm_term?: string;
            };
            header?: never;
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": Blob;
                    "image/svg+xml": string;
                };
            };
        };
    };
    "list-submissions": {
        parameters: {
            query?: {
                /** @description Only submissions after this time (ISO 8601). */
                since?: string;
                /** @description Only submissions before this time (ISO 8601). */
                until?: string;
                /** @description Only submissions whose address or name contains this text, in capital or small letters. */
                q?: string;
                /** @description The order: newest first (-submitted_at), or oldest first (submitted_at). */
                sort?: "-submitted_at" | "submitted_at";
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
                /** @description Where to continue: the next_cursor of the previous answer. Cannot be combined with page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CursorPageSubmission"];
                };
            };
        };
    };
    "export-submissions": {
        parameters: {
            query?: {
                /** @description Only submissions after this time (ISO 8601). */
                since?: string;
                /** @description Only submissions before this time (ISO 8601). */
                until?: string;
                /** @description Only submissions whose address or name contains this text, in capital or small letters. */
                q?: string;
                /** @description Format of the file. */
                format?: "csv" | "ndjson" | "parquet";
                /** @description Whether a CSV file begins with a byte order mark, without which Excel shows letters that are not ASCII wrong. */
                bom?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": Blob;
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
        };
    };
    "upload-generic-link-thumbnail": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "image/gif": Blob;
                "image/jpeg": Blob;
                "image/png": Blob;
                "image/webp": Blob;
                "multipart/form-data": {
                    /** Format: binary */
                    file: Blob;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GenericLink"];
                };
            };
        };
    };
    "delete-generic-link-thumbnail": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "get-generic-link-tracking": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the generic link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tracking"];
                };
            };
        };
    };
    "list-invitations": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageInvitation"];
                };
            };
        };
    };
    "create-invitation": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvitation"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
        };
    };
    "get-invitation": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the invitation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
        };
    };
    "delete-invitation": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the invitation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "list-keys": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageAPIKey"];
                };
            };
        };
    };
    "create-key": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKey"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewAPIKey"];
                };
            };
        };
    };
    "get-key": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["APIKey"];
                };
            };
        };
    };
    "revoke-key": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "list-lead-magnets": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageLeadMagnet"];
                };
            };
        };
    };
    "create-lead-magnet": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewLeadMagnet"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LeadMagnet"];
                };
            };
        };
    };
    "get-lead-magnet": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Id of the lead magnet. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LeadMagnet"];
                };
            };
        };
    };
    "delete-lead-magnet": {
        parameters: {
            query?: {
                /** @description Whether to also delete its links and their submissions. */
                cascade?: boolean;
            };
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the lead magnet. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "update-lead-magnet": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the lead magnet. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedLeadMagnet"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LeadMagnet"];
                };
            };
        };
    };
    "create-access-links": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the lead magnet that the links open. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAccessLinks"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
        };
    };
    "download-lead-magnet-file": {
        parameters: {
            query?: never;
            header?: {
                /** @description One range to return, such as bytes=0-1023. If the range does not exist, the full content is returned. */
                Range?: string;
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Id of the lead magnet. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": Blob;
                };
            };
            /** @description Partial Content */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": Blob;
                };
            };
        };
    };
    "upload-lead-magnet-file": {
        parameters: {
            query?: {
                /** @description Name of the file, if the request does not give it elsewhere. */
                file_name?: string;
            };
            header?: never;
            path: {
                /** @description Id of the lead magnet. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/pdf": Blob;
                "multipart/form-data": {
                    /** Format: binary */
                    file: Blob;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LeadMagnet"];
                };
            };
        };
    };
    "get-page-picture": {
        parameters: {
            query?: {
                /** @description Version of the file; default: the current one. */
                magnet_version?: number;
            };
            header?: never;
            path: {
                /** @description Id of the lead magnet. */
                id: string;
                /** @description Number of the page, from 1. */
                page: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": Blob;
                    "image/png": Blob;
                };
            };
        };
    };
    "list-shares": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description Id of the lead magnet. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageShare"];
                };
            };
        };
    };
    "create-share": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the lead magnet. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Create-share-body"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewShare"];
                };
            };
        };
    };
    "revoke-share": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the lead magnet. */
                id: string;
                /** @description Id of the link. */
                share_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "list-lead-magnet-versions": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @description Id of the lead magnet. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageVersion"];
                };
            };
        };
    };
    "erase-person": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PersonAddress"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonErasure"];
                };
            };
        };
    };
    "export-person": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PersonAddress"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonDocument"];
                };
            };
        };
    };
    "list-sessions": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageSession"];
                };
            };
        };
    };
    "end-session": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "delete-submission": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the submission. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "list-users": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageUser"];
                };
            };
        };
    };
    "get-user": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    "remove-user": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "update-user": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedUser"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    "get-weekly-report": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WeeklyReport"];
                };
            };
        };
    };
    "set-weekly-report": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedReport"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WeeklyReport"];
                };
            };
        };
    };
    "list-utm-templates": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
                /** @description Generic link whose URL is to carry the parameters. */
                generic_link_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageTemplate"];
                };
            };
        };
    };
    "create-utm-template": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTemplate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    "get-utm-template": {
        parameters: {
            query?: {
                /** @description Generic link whose URL is to carry the parameters. */
                generic_link_id?: string;
            };
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Id of the template. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    "delete-utm-template": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the template. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "update-utm-template": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the template. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedTemplate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    "list-webhooks": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageWebhook"];
                };
            };
        };
    };
    "create-webhook": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullWebhook"];
                };
            };
        };
    };
    "get-webhook": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of an answer that you have. If nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    "delete-webhook": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "update-webhook": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangedWebhook"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    "list-webhook-deliveries": {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Elements per page. */
                per_page?: number;
                /** @description Where to continue: the next_cursor of the previous answer. Cannot be combined with page. */
                cursor?: string;
                /** @description Only messages in this state. */
                state?: "pending" | "delivered" | "failed";
            };
            header?: never;
            path: {
                /** @description Id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CursorPageDelivery"];
                };
            };
        };
    };
    "get-webhook-delivery": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the webhook. */
                id: string;
                /** @description Id of the message in the log. */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    "replay-webhook-delivery": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                id: string;
                /** @description Id of the message in the log. */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    "rotate-webhook-secret": {
        parameters: {
            query?: {
                /** @description Hours during which messages are also signed with the previous secrets. */
                keep_previous_hours?: number;
            };
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullWebhook"];
                };
            };
        };
    };
    "test-webhook": {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID, that the API key uses for no other. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
}
