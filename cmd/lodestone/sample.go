package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/cmd/lodestone/demo"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// The sample is a lead magnet with a landing page, so that there is something to open on the first
// start.
const (
	sampleTitle       = "Worth the email: a field guide"
	sampleDescription = "What makes a document worth an email address: twelve pages that people ask for, open and finish."
	sampleSlug        = "welcome"
	sampleTimeout     = time.Minute
)

// sample returns the landing page of the demo account's sample, which is created by the API, as a
// user would, on the first start of an account. The file "sample" remembers which account had it
// and which link it is: what a user deletes does not come back, then the URL is "".
func sample(ctx context.Context, api *client.Client, dir string, account uuid.UUID) (url string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	file := filepath.Join(dir, "sample")
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if of, link, _ := strings.Cut(strings.TrimSpace(string(text)), " "); of == account.String() {
		found, err := api.GenericLink(ctx, link)
		if problem.Is(err, problem.NotFound) || err == nil && !found.Active {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("look for the sample: %w", err)
		}
		return found.URL, nil
	}
	link, err := makeSample(ctx, api)
	if err != nil {
		return "", fmt.Errorf("make the sample: %w", err)
	}
	if err := writePrivate(file, account.String()+" "+link.ID+"\n"); err != nil {
		return "", err
	}
	return link.URL, nil
}

// makeSample goes on where a start that was killed stopped.
func makeSample(ctx context.Context, api *client.Client) (client.GenericLink, error) {
	all, err := api.LeadMagnets(ctx, client.Paging{PerPage: 100})
	if err != nil {
		return client.GenericLink{}, err
	}
	var magnet client.LeadMagnet
	for _, m := range all.Data {
		if m.Title == sampleTitle {
			magnet = m
		}
	}
	if magnet.ID == "" {
		description := sampleDescription
		if magnet, err = api.CreateLeadMagnet(ctx, client.NewLeadMagnet{Title: sampleTitle,
			Description: &description}); err != nil {
			return client.GenericLink{}, err
		}
	}
	if magnet.PageCount == nil {
		if magnet, err = api.UploadFile(ctx, magnet.ID, "worth-the-email.pdf", bytes.NewReader(demo.Guide())); err != nil {
			return client.GenericLink{}, err
		}
	}
	links, err := api.GenericLinks(ctx, client.GenericLinkFilter{LeadMagnetID: magnet.ID})
	if err != nil {
		return client.GenericLink{}, err
	}
	if len(links.Data) > 0 {
		return links.Data[0], nil
	}
	slug := sampleSlug
	link, err := api.CreateGenericLink(ctx, client.NewGenericLink{LeadMagnetID: magnet.ID, Slug: &slug})
	if problem.Is(err, problem.SlugTaken) { // of another account, or given up once
		slug += "-" + strings.ToLower(rand.Text()[:6])
		link, err = api.CreateGenericLink(ctx, client.NewGenericLink{LeadMagnetID: magnet.ID, Slug: &slug})
	}
	return link, err
}
