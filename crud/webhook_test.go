package crud_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/clienttest"
)

// The Go client does with webhooks what the API can.
func TestWebhooksByClient(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Free)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "thanks")
	}))
	t.Cleanup(receiver.Close)
	made, err := u.CreateWebhook(t.Context(), clienttest.NewWebhook{URL: receiver.URL, Kinds: []string{"link.created"}})
	require.NoError(t, err)
	require.NotEmpty(t, made.Secret)
	require.NotEmpty(t, made.ETag)
	changed, err := u.UpdateWebhook(t.Context(), made.ID, clienttest.WebhookChanges{Description: clienttest.Set("CRM"),
		Kinds: []string{"form.verified"}}, made.ETag)
	require.NoError(t, err)
	require.Equal(t, "CRM", *changed.Description)
	require.Equal(t, []string{"form.verified"}, changed.Kinds)
	require.Empty(t, changed.Secret)
	_, err = u.UpdateWebhook(t.Context(), made.ID, clienttest.WebhookChanges{Description: clienttest.Clear[string]()},
		made.ETag)
	require.True(t, problem.Is(err, problem.Conflict), err)
	rotated, err := u.RotateWebhookSecret(t.Context(), made.ID, 0)
	require.NoError(t, err)
	require.NotEqual(t, made.Secret, rotated.Secret)

	sent, err := u.TestWebhook(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, "delivered", sent.State)
	require.Equal(t, "thanks", *sent.Attempts[0].Response)
	log, err := u.Deliveries(t.Context(), made.ID, clienttest.DeliveryFilter{State: "delivered"})
	require.NoError(t, err)
	require.Equal(t, []clienttest.Delivery{sent}, log.Data)
	again, err := u.ReplayDelivery(t.Context(), made.ID, sent.ID)
	require.NoError(t, err)
	require.Equal(t, "pending", again.State)
	again, err = u.Delivery(t.Context(), made.ID, sent.ID)
	require.NoError(t, err)
	require.Equal(t, sent.MessageID, again.MessageID)

	list, err := u.Webhooks(t.Context(), client.Paging{})
	require.NoError(t, err)
	require.Len(t, list.Data, 1)
	require.NoError(t, u.DeleteWebhook(t.Context(), made.ID))
	_, err = u.Webhook(t.Context(), made.ID)
	require.True(t, problem.Is(err, problem.NotFound), err)
}
