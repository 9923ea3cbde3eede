package webhook

import "context"

// Clean cleans up as the service does once a minute.
func (w *Webhooks) Clean(ctx context.Context) { w.clean(ctx) }

// EndSessions ends the sessions that are over, as the service does.
func (w *Webhooks) EndSessions(ctx context.Context) error { return w.endSessions(ctx) }
