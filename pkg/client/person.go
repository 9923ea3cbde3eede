package client

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

const peoplePath = "/api/v1/people"

// ErasePerson erases everything that is stored about an address, and returns the erasure with its
// receipt, as the API answers. It cannot be undone.
func (c *Client) ErasePerson(ctx context.Context, email string) (jsontext.Value, error) {
	return Post[jsontext.Value](ctx, c, peoplePath+"/erase", map[string]string{"email": email})
}
