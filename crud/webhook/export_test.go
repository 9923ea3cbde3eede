package webhook

import "context"

// Clean cleans up as the service does once a minute.
func (w *Webhooks) Clean(ctx context.Context) { w.clean(ctx) }
