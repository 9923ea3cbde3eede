package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/certificate"
	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/email"
)

// apiConfig is how a command reaches the API.
type apiConfig struct {
	Data   dataConfig `embed:""`
	URL    string     `name:"url" placeholder:"URL" help:"Address of the API."`
	APIKey string     `name:"api-key" placeholder:"KEY" help:"API key with the scope that the command needs. Secret."`
}

// client returns a client of the API. The error is one of the settings.
func (c apiConfig) client() (*client.Client, error) {
	if c.URL == "" || c.APIKey == "" {
		return nil, config.Invalid("--data", "is "+c.Data.Data+", where no `lodestone up` has been started",
			"start `lodestone up --data "+c.Data.Data+"` first, or give --url and --api-key")
	}
	return client.New(client.Config{URL: c.URL, Key: c.APIKey, HTTP: apiHTTP()}), nil
}

// apiHTTP returns what connects to the API.
func apiHTTP() *http.Client { return &http.Client{Transport: certificate.DefaultHTTP()} }

type eraseCommand struct {
	API     apiConfig `embed:""`
	Address string    `arg:"" help:"Email address of the person, in upper or lower case."`
}

// Run erases a person in the account of the key, and prints the receipt.
func (c *eraseCommand) Run(ctx context.Context) error {
	_, err := email.Parse(c.Address)
	if err != nil {
		err = config.Invalid("ADDRESS", err.Error(), "give an email address alone")
	}
	api, settings := c.API.client()
	if err := errors.Join(err, settings); err != nil {
		return err
	}
	receipt, err := api.ErasePerson(ctx, c.Address)
	if err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := receipt.Indent(jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if _, err := fmt.Fprintln(os.Stdout, string(receipt)); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
