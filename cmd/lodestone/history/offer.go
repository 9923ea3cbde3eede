package history

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/client"
)

var titles = [documents]string{guide: "The field guide to lead magnets", worksheet: "Before you publish: a worksheet of four pages"}

var descriptions = [documents]string{
	guide:     "What makes a document worth an email address. The second edition is a third shorter.",
	worksheet: "One question, one form, four numbers, one checklist: work through it before your document goes out.",
}

var fileNames = [documents][]string{guide: {"field-guide.pdf", "field-guide-second-edition.pdf"}, worksheet: {"worksheet.pdf"}}

// consent is what the form of the first landing page asks to agree to.
const consent = "I agree to get the guide and one mail about it."

var newLinks = [landings]client.NewGenericLink{
	fromSite:     {Title: new("Get the field guide"), ConsentText: new(consent)},
	fromWebinar:  {Title: new("The guide from the webinar"), RequireVerification: true},
	forWorksheet: {Title: new("Get the worksheet")},
}

// offer is what there is to read.
type offer struct {
	magnets  [documents]uuid.UUID
	landings [landings]uuid.UUID
	urls     [landings]string
}

// makeOffer creates lead magnets with their files and landing pages by the API, as their owner would.
func (h *History) makeOffer(ctx context.Context) (o offer, err error) {
	for document := range documents {
		magnet, err := h.createMagnet(ctx, document)
		if err != nil {
			return o, err
		}
		if o.magnets[document], err = uuid.Parse(magnet.ID); err != nil {
			return o, fmt.Errorf("read the id of a lead magnet: %w", err)
		}
		for i, wanted := range editions[document] {
			pdf, err := excerpt(h.deps.Guide, wanted)
			if err != nil {
				return o, fmt.Errorf("make %s: %w", fileNames[document][i], err)
			}
			magnet, err = h.deps.API.UploadFile(ctx, magnet.ID, fileNames[document][i], bytes.NewReader(pdf))
			if err != nil {
				return o, fmt.Errorf("upload %s: %w", fileNames[document][i], err)
			}
			if magnet.PageCount == nil || *magnet.PageCount != len(wanted) {
				return o, fmt.Errorf("upload %s: the API does not count its %d pages", fileNames[document][i], len(wanted))
			}
		}
	}
	for landing, n := range newLinks {
		n.LeadMagnetID = o.magnets[documentOf[landing]].String()
		link, err := h.deps.API.CreateGenericLink(ctx, n)
		if err != nil {
			return o, fmt.Errorf("create a generic link: %w", err)
		}
		o.urls[landing] = link.URL
		if o.landings[landing], err = uuid.Parse(link.ID); err != nil {
			return o, fmt.Errorf("read the id of a generic link: %w", err)
		}
	}
	return o, h.checkKeys(ctx, o)
}

// createTimeout bounds the creation of a lead magnet.
const createTimeout = 20 * time.Second

// createMagnet waits for the answer although the user interrupts it, since what is created without being known cannot be deleted.
func (h *History) createMagnet(ctx context.Context, document int) (client.LeadMagnet, error) {
	if err := ctx.Err(); err != nil {
		return client.LeadMagnet{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	magnet, err := h.deps.API.CreateLeadMagnet(ctx, client.NewLeadMagnet{Title: titles[document], Description: &descriptions[document]})
	if err != nil {
		return magnet, fmt.Errorf("create a lead magnet: %w", err)
	}
	return magnet, nil
}

// checkKeys reports an error unless the token keys and the account are those of the API.
func (h *History) checkKeys(ctx context.Context, o offer) error {
	tracking, err := client.Get[struct {
		Token string `json:"tracking_token"`
	}](ctx, h.deps.API, "/api/v1/generic-links/"+o.landings[fromSite].String()+"/tracking", nil)
	if err != nil {
		return fmt.Errorf("ask for a tracking token: %w", err)
	}
	claims, err := h.deps.Tokens.Verify([]byte(tracking.Token))
	if err != nil || claims.AccountID != h.cfg.Account {
		return errForeign("--token-keys", "are not those of the API")
	}
	return nil
}
