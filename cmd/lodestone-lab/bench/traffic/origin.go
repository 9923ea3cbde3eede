package traffic

import "lodestone/pkg/event"

// origins are where readers are from, and the languages of their browsers.
var origins = makeOrigins()

type originList struct {
	list    []event.Origin
	weights weights
}

func makeOrigins() (o originList) {
	for _, place := range []struct {
		weight            float64
		country, language string
	}{
		{24, "US", "en"}, {3, "US", "es"}, {18, "DE", "de"}, {2, "DE", "en"}, {9, "GB", "en"}, {7, "FR", "fr"},
		{5, "NL", "nl"}, {1, "NL", "en"}, {4, "AT", "de"},
		{3, "CH", "de"}, {1, "CH", "fr"}, {5, "ES", "es"}, {5, "IT", "it"}, {3, "PL", "pl"}, {2, "SE", "sv"}, {1, "DK", "da"},
		{4, "CA", "en"}, {1, "CA", "fr"},
		{3, "AU", "en"}, {4, "BR", "pt"}, {5, "IN", "en"}, {2, "JP", "ja"}, {1, "KR", "ko"}, {1, "SG", "en"},
		{1, "ZA", "en"}, {2, "", "en"},
	} {
		country, _ := event.ParseCountry(place.country)
		language, _ := event.ParseLanguage([]byte(place.language))
		o.list = append(o.list, event.Origin{Country: country, Language: language})
		o.weights.add(place.weight)
	}
	return o
}
