package spectrum_test

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// obj is a decoded document, for short.
type obj = map[string]any

// institute has everything that a summary is computed from, decoded: numbers are float64, ObjectIDs
// are {"$oid":…}.
type institute struct {
	activities, catalogue, groups, persons []obj
}

// decode decodes documents through JSON, independently of this package.
func decode(t require.TestingT, docs []bson.Raw) []obj {
	out := make([]obj, len(docs))
	for i, doc := range docs {
		require.NoError(t, json.Unmarshal(ejson.AppendDocument(nil, doc), &out[i]))
	}
	return out
}

// plainSpectrum implements the API's description with simple loops: for each topic it visits the topic's
// activities again. The tests compare the package with it.
func plainSpectrum(in institute, year int) []obj {
	total := 0
	byTopic := map[string]map[string][]obj{} // topic id, then activity id, to assignments
	activities := map[string]obj{}
	for _, a := range in.activities {
		catalog, _ := a["catalog"].(obj)
		topics, _ := catalog["topics"].([]any)
		if a["affiliated"] != true || len(topics) == 0 {
			continue
		}
		total++
		activities[plainID(a)] = a
		for _, t := range plainTopics(topics) {
			id := t["id"].(string)
			if byTopic[id] == nil {
				byTopic[id] = map[string][]obj{}
			}
			byTopic[id][plainID(a)] = append(byTopic[id][plainID(a)], t)
		}
	}
	rows := []obj{}
	for id, assignments := range byTopic {
		rows = append(rows, plainRow(in, activities, assignments, total, id, year))
	}
	sortPlain(rows, "count", "id")
	return rows
}

// plainTopics are the assignments that have an id.
func plainTopics(list []any) []obj {
	var topics []obj
	for _, t := range list {
		if doc, ok := t.(obj); ok {
			if id, ok := doc["id"].(string); ok && id != "" {
				topics = append(topics, doc)
			}
		}
	}
	return topics
}

func plainRow(in institute, activities map[string]obj, assignments map[string][]obj, total int, id string,
	year int) obj {
	count := 0
	years, units, users := map[float64]int{}, map[string]int{}, map[string]int{}
	var labels, newest obj
	var recent []obj
	for activity, topics := range assignments {
		a, best := activities[activity], -1.0
		for _, t := range topics {
			count++
			if y, ok := plainYear(a); ok {
				years[y]++
			}
			for u := range plainSet(a["units"]) {
				units[u]++
			}
			rendered, _ := a["rendered"].(obj)
			for u := range plainSet(rendered["users"]) {
				users[u]++
			}
			if labels == nil || plainNewer(a, newest) {
				labels, newest = t, a
			}
			if score, ok := t["score"].(float64); ok {
				best = max(best, score)
			}
		}
		if y, ok := plainYear(a); ok && y >= float64(year-5) && best >= 0.8 {
			recent = append(recent, plainActivity(a, y, best))
		}
	}
	row := obj{
		"id": id, "catalog_url": "https://openalex.org/" + id, "count": float64(count),
		"share": plainShare(count, total), "timeline": plainTimeline(years),
		"units": plainUnits(in, units), "researchers": plainResearchers(in, users),
		"description": nil, "keywords": []any{},
	}
	for _, key := range []string{"name", "path", "domain", "field", "subfield"} {
		row[key] = labels[key]
	}
	for _, key := range []string{"domain_id", "field_id", "subfield_id"} {
		row[key] = labels[key]
		if s, ok := labels[key].(string); ok {
			if n, err := strconv.ParseUint(s, 10, 59); err == nil {
				row[key] = float64(n)
			}
		}
	}
	if i := slices.IndexFunc(in.catalogue, func(entry obj) bool { return entry["id"] == id }); i >= 0 {
		row["description"] = in.catalogue[i]["description"]
		if keywords := in.catalogue[i]["keywords"]; keywords != nil {
			row["keywords"] = keywords
		}
	}
	sortPlain(recent, "year", "id")
	if len(recent) > 0 {
		row["activities"] = anys(recent[:min(10, len(recent))])
	}
	return row
}

func plainYear(a obj) (float64, bool) {
	y, ok := a["year"].(float64)
	return y, ok && y == float64(int(y))
}

// plainNewer reports whether a has a later year than b, or the same year and the greater id.
func plainNewer(a, b obj) bool {
	ya, oka := plainYear(a)
	yb, okb := plainYear(b)
	if oka != okb {
		return oka
	}
	if oka && ya != yb {
		return ya > yb
	}
	return plainID(a) > plainID(b)
}

func plainID(doc obj) string { return doc["_id"].(obj)["$oid"].(string) }

// plainSet is the set of strings in an array.
func plainSet(v any) map[string]bool {
	set := map[string]bool{}
	list, _ := v.([]any)
	for _, e := range list {
		if s, ok := e.(string); ok {
			set[s] = true
		}
	}
	return set
}

// plainShare rounds by exact decimal arithmetic.
func plainShare(count, total int) float64 {
	f, err := strconv.ParseFloat(big.NewRat(int64(count), int64(total)).FloatString(6), 64)
	if err != nil {
		panic(err) // the text was formatted from a number
	}
	return f
}

func plainTimeline(years map[float64]int) []any {
	list := []obj{}
	for y, n := range years {
		list = append(list, obj{"year": y, "count": float64(n)})
	}
	sortPlain(list, "year", "")
	slices.Reverse(list)
	return anys(list)
}

func plainUnits(in institute, counts map[string]int) []any {
	list := []obj{}
	for _, g := range in.groups {
		id, _ := g["id"].(string)
		root := g["level"] == 0.0 || g["parent"] == nil || g["parent"] == ""
		if counts[id] == 0 || root || plainHidden(g) {
			continue
		}
		list = append(list, obj{"id": id, "name": g["name"], "name_de": g["name_de"], "count": float64(counts[id])})
	}
	sortPlain(list, "count", "id")
	return anys(list[:min(10, len(list))])
}

// plainHidden reports whether a unit or person says anything but that it is shown.
func plainHidden(doc obj) bool {
	switch doc["hide"] {
	case nil, "", false, 0.0, "0", "false":
		return false
	}
	return true
}

func plainActive(person obj) bool {
	switch person["is_active"] {
	case nil, "", true, 1.0, "1", "true":
		return true
	}
	return false
}

func plainResearchers(in institute, counts map[string]int) []any {
	list := []obj{}
	for _, p := range in.persons {
		username, _ := p["username"].(string)
		if counts[username] == 0 || !plainActive(p) || plainHidden(p) {
			continue
		}
		list = append(list, obj{
			"id": plainID(p), "displayname": plainDisplayName(p), "academic_title": p["academic_title"],
			"position": p["position"], "position_de": p["position_de"],
			"count": float64(counts[username]), "username": username,
		})
	}
	sortPlain(list, "count", "username")
	list = list[:min(10, len(list))]
	for _, p := range list {
		delete(p, "username")
	}
	return anys(list)
}

func plainDisplayName(p obj) string {
	if name, ok := p["displayname"].(string); ok && name != "" {
		return name
	}
	first, _ := p["first"].(string)
	last, _ := p["last"].(string)
	return strings.TrimSpace(first + " " + last)
}

func plainActivity(a obj, year, score float64) obj {
	rendered, _ := a["rendered"].(obj)
	str := func(key string) string { s, _ := rendered[key].(string); return s }
	return obj{
		"id": plainID(a), "year": year, "score": score, "html": str("web"),
		"icon": str("icon"), "type": str("type"), "subtype": str("subtype"),
	}
}

// sortPlain sorts by a number descending, then by a text.
func sortPlain(list []obj, number, text string) {
	slices.SortFunc(list, func(a, b obj) int {
		if x, y := a[number].(float64), b[number].(float64); x != y {
			return map[bool]int{true: -1, false: 1}[x > y]
		}
		if text == "" {
			return 0
		}
		return strings.Compare(a[text].(string), b[text].(string))
	})
}

func anys(list []obj) []any {
	out := []any{}
	for _, o := range list {
		out = append(out, o)
	}
	return out
}

// TestPlainShare tests the reference implementation itself.
func TestPlainShare(t *testing.T) {
	require.Equal(t, 0.333333, plainShare(1, 3))
	require.Equal(t, 0.007813, plainShare(1, 128)) // 0.0078125
}
