package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// ExportEvents writes the file of the events that the query lets through; its parameter format is
// required. The file is not complete if there is an error. It is asked for again while that may
// help, until its first byte.
func (c *Client) ExportEvents(ctx context.Context, query url.Values, to io.Writer) error {
	return c.download(ctx, eventsPath+"/export", query, to)
}

// ExportReaders writes the file of the people who read, as ExportEvents does.
func (c *Client) ExportReaders(ctx context.Context, query url.Values, to io.Writer) error {
	return c.download(ctx, eventsPath+"/readers/export", query, to)
}

// ExportSubmissions writes the file of a generic link's submissions, as ExportEvents does.
func (c *Client) ExportSubmissions(ctx context.Context, link string, query url.Values, to io.Writer) error {
	return c.download(ctx, linksPath+"/"+url.PathEscape(link)+"/submissions/export", query, to)
}

func (c *Client) download(ctx context.Context, path string, query url.Values, to io.Writer) error {
	var res *http.Response
	err := retry(ctx, func() (after time.Duration, err error) {
		res, after, err = c.open(ctx, path, query) //nolint:bodyclose // it is closed below
		return after, err
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("the file is not complete: %w", err)
	}
	return nil
}

// Open asks for a file, once. The caller closes the body of the answer.
func (c *Client) Open(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	res, _, err := c.open(ctx, path, query)
	return res, err
}

func (c *Client) open(ctx context.Context, path string, query url.Values) (_ *http.Response, after time.Duration, err error) {
	return c.Fetch(ctx, http.MethodGet, path+"?"+query.Encode(), nil, nil)
}
