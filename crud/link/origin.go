package link

import (
	"fmt"
	"net/url"
	"slices"

	"lodestone/crud/web"
	"lodestone/pkg/problem"
)

// checkOrigins returns origins of pages as browsers write them, nil for nil, or the problem of
// those that are none.
func checkOrigins(given []string) ([]string, error) {
	if given == nil {
		return nil, nil
	}
	origins := make([]string, 0, len(given))
	var wrong []problem.Field
	for i, text := range given {
		origin := originOf(text)
		if origin == "" {
			wrong = append(wrong, problem.Field{Field: fmt.Sprintf("allowed_origins[%d]", i),
				Message: "must be the origin of a page, such as https://www.example.com, without a path"})
		} else if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	if wrong != nil {
		return nil, problem.Invalid(wrong...)
	}
	return origins, nil
}

// originOf returns the origin that a text names, or "" if it names none or more than an origin.
// Default ports are left out.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" ||
		u.Fragment != "" || u.ForceQuery {
		return ""
	}
	if u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" {
		u.Host = u.Host[:len(u.Host)-len(u.Port())-1]
	}
	return web.Origin(u.String())
}
