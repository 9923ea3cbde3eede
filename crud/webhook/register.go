package webhook

import (
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// Register adds the operations on webhooks.
func (w *Webhooks) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-webhook", Method: "POST", Path: path, Scope: auth.Webhooks, Tag: tag, Status: 201, Tagged: true, Secret: true,
		Summary:     "Create a webhook",
		Description: "The URL has to be on the public internet, and to begin with https, unless whoever runs the installation allowed its network. The answer holds the secret that messages are signed with.",
		BodyExample: map[string]any{"url": "https://example.com/hooks", "description": "CRM", "kinds": []Kind{KindFormSubmitted, KindSessionEnded}},
		Errors:      []problem.Code{problem.LimitReached},
	}, w.create)
	api.Register(a, api.Operation{
		ID: "list-webhooks", Method: "GET", Path: path, Scope: auth.Webhooks, Tag: tag,
		Summary: "List webhooks, the newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, w.list)
	api.Register(a, api.Operation{
		ID: "get-webhook", Method: "GET", Path: path + "/{id}", Scope: auth.Webhooks, Tag: tag, Tagged: true,
		Summary: "Get a webhook",
	}, w.get)
	api.Register(a, api.Operation{
		ID: "update-webhook", Method: "PATCH", Path: path + "/{id}", Scope: auth.Webhooks, Tag: tag, Tagged: true,
		Summary:     "Change a webhook",
		Description: "Fields that are left out stay as they are; null clears description. While it is not active, nothing is sent or kept for it, and messages that wait are given up; they can be replayed later.",
	}, w.update)
	api.Register(a, api.Operation{
		ID: "delete-webhook", Method: "DELETE", Path: path + "/{id}", Scope: auth.Webhooks, Tag: tag, Status: 204,
		Summary: "Delete a webhook and its log",
	}, w.delete)
	api.Register(a, api.Operation{
		ID: "rotate-webhook-secret", Method: "POST", Path: path + "/{id}/rotate-secret", Scope: auth.Webhooks, Tag: tag, Tagged: true, Secret: true,
		Summary:     "Make a new secret for a webhook",
		Description: "Messages are signed with the new secret and with those before, for as long as keep_previous_hours says, so that receivers can change over in their own time. After a leak, say 0.",
		Errors:      []problem.Code{problem.Conflict},
	}, w.rotate)
	api.Register(a, api.Operation{
		ID: "test-webhook", Method: "POST", Path: path + "/{id}/test", Scope: auth.Webhooks, Tag: tag, Timeout: maxTimeout + testMargin,
		Summary:     "Send a test message to a webhook",
		Description: "It has the type webhook.test, is sent at once, active or not, and is not tried again. The answer tells how it went.",
	}, w.test)
	api.Register(a, api.Operation{
		ID: "list-webhook-deliveries", Method: "GET", Path: path + "/{id}/deliveries", Scope: auth.Webhooks, Tag: tag,
		Summary: "List what was sent to a webhook, the newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, w.deliveries)
	api.Register(a, api.Operation{
		ID: "get-webhook-delivery", Method: "GET", Path: path + "/{id}/deliveries/{delivery_id}", Scope: auth.Webhooks, Tag: tag,
		Summary: "Get one message that was sent to a webhook",
	}, w.delivery)
	api.Register(a, api.Operation{
		ID: "replay-webhook-delivery", Method: "POST", Path: path + "/{id}/deliveries/{delivery_id}/replay", Scope: auth.Webhooks, Tag: tag, Status: 202,
		Summary:     "Send a message again",
		Description: "The same message, with the same webhook-id, whatever became of it before. It is tried again as often as a new one.",
		Errors:      []problem.Code{problem.Conflict},
	}, w.replay)
}
