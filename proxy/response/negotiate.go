package response

import (
	"strconv"
	"strings"

	"vitrine/cache/result"
)

// negotiate chooses the coding of the highest weight, and among equals the first on offer (RFC 9110, 12.5.3).
func negotiate(accept string, offer []result.Coding) result.Coding {
	best, bestWeight := result.Identity, 0.0
	if accept == "" {
		return best
	}
	for _, coding := range offer {
		w, named := weightOf(accept, string(coding))
		if !named {
			w, _ = weightOf(accept, "*")
		}
		if w == 1 {
			return coding // no coding can have a higher weight
		}
		if w > bestWeight {
			best, bestWeight = coding, w
		}
	}
	// No coding is chosen only if the client prefers that by name; without a name it is acceptable, but not
	// preferred.
	if w, _ := weightOf(accept, "identity"); w > bestWeight {
		return result.Identity
	}
	return best
}

// weightOf returns the weight of a coding, and whether the header names it.
func weightOf(accept, coding string) (w float64, named bool) {
	for item := range strings.SplitSeq(accept, ",") {
		name, parameters, _ := strings.Cut(item, ";")
		name = strings.TrimSpace(name)
		if !strings.EqualFold(name, coding) && (coding != "gzip" || !strings.EqualFold(name, "x-gzip")) {
			continue
		}
		return quality(parameters), true
	}
	return 0, false
}

// quality parses the weight of a coding. "" means 1, as RFC 9110 says (12.4.2), and "q=0.5" means 0.5. It returns 0
// if the text is malformed.
func quality(parameters string) float64 {
	parameters = strings.TrimSpace(parameters)
	if parameters == "" {
		return 1
	}
	name, value, _ := strings.Cut(parameters, "=")
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if !strings.EqualFold(strings.TrimSpace(name), "q") || err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}
