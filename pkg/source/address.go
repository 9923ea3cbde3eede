package source

import (
	"net/url"
	"slices"
	"strings"
)

// Bounds of what is stored.
const (
	MaxValue        = 200  // characters of a value of a campaign
	MaxAddressBytes = 2048 // of the address of a page, without its campaign
	// MaxCampaignBytes is the length of the longest campaign in an address: five values of as many
	// characters of four bytes.
	MaxCampaignBytes = 4096
)

// counted are the parameters of a campaign that views have columns for.
var counted = []string{"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"}

// Names are the parameters of a campaign.
var Names = slices.Concat(counted, []string{"utm_id"})

// Campaign returns the campaign of the query of an address, by name. It reads the query as browsers
// do: a % that begins no escape stands for itself, ; divides nothing, and of a parameter that is
// repeated the first one counts.
func Campaign(query string) map[string]string {
	values := url.Values{}
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		values.Add(unescape(name), unescape(value))
	}
	return CampaignOf(values)
}

// CampaignOf returns the campaign of a form's values, by name.
func CampaignOf(values url.Values) map[string]string {
	campaign := map[string]string{}
	for _, name := range Names {
		if value := Text(values.Get(name), MaxValue); value != "" {
			campaign[name] = value
		}
	}
	return campaign
}

// Address returns the address of a page as it is stored: without a user, without its fragment, and
// without its query except for the campaign. A query holds mail addresses, search terms and
// sessions.
func Address(text string) string {
	text, _, _ = strings.Cut(text, "#")
	text, query, _ := strings.Cut(text, "?")
	var address strings.Builder
	address.WriteString(cut(withoutUser(Text(text, MaxAddressBytes)), MaxAddressBytes))
	campaign, separator := Campaign(query), "?"
	for _, name := range counted {
		if value, ok := campaign[name]; ok {
			address.WriteString(separator + name + "=" + escape(value))
			separator = "&"
		}
	}
	return address.String()
}

// Referrer returns what is stored of the address of the page or the app before a form, of at most
// so many bytes: host and path alone. It is "" for what is neither.
func Referrer(text string, limit int) string {
	address, _, _ := strings.Cut(Address(text), "?")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || strings.HasPrefix(rest, "/") || rest == "" {
		return ""
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "android-app":
		return cut(address, limit)
	}
	return ""
}

// withoutUser returns an address without the name and the password before its host, and without the
// dot that may follow the host.
func withoutUser(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	host, path, slash := strings.Cut(rest, "/")
	host = strings.TrimSuffix(host[strings.LastIndexByte(host, '@')+1:], ".") // the dot of the root makes no other host
	if slash {
		path = "/" + path
	}
	return scheme + "://" + host + path
}

// unescape decodes percent-escapes, and + as a space.
func unescape(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if b, ok := escaped(text[i:]); ok {
			plain = append(plain, b)
			i += len("%00") - 1
			continue
		}
		if text[i] == '+' {
			plain = append(plain, ' ')
			continue
		}
		plain = append(plain, text[i])
	}
	return string(plain)
}

// escape encodes what divides a query, so that ClickHouse reads the value back. Letters of all
// scripts stay, since they are shorter so.
func escape(value string) string {
	const reserved = "%&+;#=? \"'<>\\"
	if !strings.ContainsAny(value, reserved) {
		return value
	}
	var b strings.Builder
	for i := range len(value) {
		if strings.IndexByte(reserved, value[i]) < 0 {
			b.WriteByte(value[i])
			continue
		}
		const digits = "0123456789ABCDEF"
		b.WriteByte('%')
		b.WriteByte(digits[value[i]>>4])
		b.WriteByte(digits[value[i]&15])
	}
	return b.String()
}
