package webhook

import (
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// Register adds the operations on webhooks.
func (w *Webhooks) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-webhook", Method: "POST", Path: path, Scope: auth.Webhooks, Also: []auth.Scope{auth.Leads}, Tag: tag,
		Status: 201, Tagged: true, Secret: true,
		Summary:     "Create a webhook",
		Description: "The URL must be on the public internet and begin with https, unless the operator has allowed its network. The answer contains the secret that messages are signed with. With the format slack, teams or discord, the account's notices are sent to a channel as well as by mail, as the account's settings say. Such messages are not signed.",
		BodyExample: map[string]any{"url": "https://example.com/hooks", "description": "CRM",
			"kinds": []Kind{KindFormSubmitted, KindSessionEnded}},
		Errors: []problem.Code{problem.LimitReached},
	}, w.create)
	api.Register(a, api.Operation{
		ID: "list-webhooks", Method: "GET", Path: path, Scope: auth.Webhooks, Tag: tag,
		Summary: "List webhooks, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, w.list)
	api.Register(a, api.Operation{
		ID: "get-webhook", Method: "GET", Path: path + "/{id}", Scope: auth.Webhooks, Tag: tag, Tagged: true,
		Summary: "Get a webhook",
	}, w.get)
	api.Register(a, api.Operation{
		ID: "update-webhook", Method: "PATCH", Path: path + "/{id}", Scope: auth.Webhooks,
		Also: []auth.Scope{auth.Leads}, Tag: tag, Tagged: true,
		Summary:     "Change a webhook",
		Description: "Omitted fields keep their values; null clears description. While the webhook is not active, no messages are sent to it or stored for it. Pending messages are given up; they can be replayed later.",
	}, w.update)
	api.Register(a, api.Operation{
		ID: "delete-webhook", Method: "DELETE", Path: path + "/{id}", Scope: auth.Webhooks, Tag: tag, Status: 204,
		Summary: "Delete a webhook and its log",
	}, w.delete)
	api.Register(a, api.Operation{
		ID: "rotate-webhook-secret", Method: "POST", Path: path + "/{id}/rotate-secret", Scope: auth.Webhooks,
		Tag: tag, Tagged: true, Secret: true,
		Summary:     "Create a new secret for a webhook",
		Description: "Messages are signed with the new secret and, for keep_previous_hours, also with the previous ones, so that receivers have time to change. After a leak, set keep_previous_hours to 0.",
		Errors:      []problem.Code{problem.Conflict},
	}, w.rotate)
	api.Register(a, api.Operation{
		ID: "test-webhook", Method: "POST", Path: path + "/{id}/test", Scope: auth.Webhooks, Tag: tag,
		Timeout:     maxTimeout + testMargin,
		Summary:     "Send a test message to a webhook",
		Description: "The message has the type webhook.test. It is sent immediately, even if the webhook is not active, and is not retried. The answer contains the result.",
	}, w.test)
	api.Register(a, api.Operation{
		ID: "list-webhook-deliveries", Method: "GET", Path: path + "/{id}/deliveries", Scope: auth.Webhooks,
		Also: []auth.Scope{auth.Leads}, Tag: tag,
		Summary: "List the messages to a webhook, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, w.deliveries)
	api.Register(a, api.Operation{
		ID: "get-webhook-delivery", Method: "GET", Path: path + "/{id}/deliveries/{delivery_id}", Scope: auth.Webhooks,
		Also: []auth.Scope{auth.Leads}, Tag: tag,
		Summary: "Get one message to a webhook",
	}, w.delivery)
	api.Register(a, api.Operation{
		ID: "replay-webhook-delivery", Method: "POST", Path: path + "/{id}/deliveries/{delivery_id}/replay",
		Scope: auth.Webhooks, Also: []auth.Scope{auth.Leads}, Tag: tag, Status: 202,
		Summary:     "Send a message again",
		Description: "Sends the same message with the same webhook-id, whatever its state. It is retried like a new message.",
		Errors:      []problem.Code{problem.Conflict},
	}, w.replay)
}
