package dashboard

import (
	"strings"
	"time"

	"lodestone/crud/dashboard/frame"
)

const callsPath = "/api/v1/analytics/call-list"

// callList is the API's answer about whom to call.
type callList struct {
	Data []struct {
		AccessLinkID string    `json:"access_link_id"`
		Email        *string   `json:"email"`
		Name         *string   `json:"name"`
		Status       *string   `json:"status"`
		Finished     []string  `json:"finished"`
		Reasons      []string  `json:"reasons"`
		DaysAway     *int      `json:"days_away"`
		LastReadAt   time.Time `json:"last_read_at"`
		Score        int64     `json:"score"`
		ScoreBefore  int64     `json:"score_before"`
	} `json:"data"`
	Labels map[string]string `json:"labels"`
}

// callRow is someone to call, and why.
type callRow struct {
	Name, Address, URL, Status, Why string
	Seen                            frame.Instant
}

// readCalls returns whom to call; none, if the session may not see people.
func readCalls(v *frame.Visit) (list []callRow, err error) {
	if !v.MaySeePeople() {
		return nil, nil
	}
	found, err := frame.Get[callList](v, callsPath, nil)
	if err != nil {
		return nil, err
	}
	for _, c := range found.Data {
		row := callRow{URL: v.Link(readerScreen + c.AccessLinkID), Status: statusOf(v, c.Status), Seen: v.When(&c.LastReadAt)}
		row.Name, row.Address = named(v, c.Name, c.Email)
		var why []string
		for _, reason := range c.Reasons {
			switch reason {
			case "finished":
				why = append(why, v.Say("overview.call.finished", "title", titles(c.Finished, found.Labels)))
			case "came_back":
				why = append(why, v.Say("overview.call.back", "n", *c.DaysAway))
			case "passed_score":
				why = append(why, v.Say("overview.call.score", "before", c.ScoreBefore, "score", c.Score))
			}
		}
		row.Why = strings.Join(why, " ")
		list = append(list, row)
	}
	return list, nil
}
