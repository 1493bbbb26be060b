package osiristest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// envelope is the body of an answer in JSON.
type envelope struct {
	Status int    `json:"status"`
	Count  int    `json:"count"`
	Data   any    `json:"data,omitempty"`
	Error  string `json:"error,omitempty"`
	Msg    string `json:"msg,omitempty"`
}

func (e envelope) text() []byte {
	text, _ := json.MarshalIndent(e, "", "    ") // cannot fail: strings and numbers only
	return text
}

// failed is the envelope of an error. Its status is that of the envelope only.
func failed(status int, msg string) envelope {
	return envelope{Status: status, Error: "Error", Msg: msg}
}

// listed is an envelope with the rows that limit and offset select.
func listed(rows []object, query url.Values) envelope {
	if n, err := strconv.Atoi(query.Get("offset")); err == nil && n > 0 {
		rows = rows[min(n, len(rows)):]
	}
	if n, err := strconv.Atoi(query.Get("limit")); err == nil && n > 0 {
		rows = rows[:min(n, len(rows))]
	}
	return envelope{Status: 200, Count: len(rows), Data: rows}
}

// portfolio answers a page below /portfolio. Parameters other than limit and offset do not count.
func (i Institute) portfolio(path string, query url.Values) envelope {
	parts := strings.Split(path, "/")
	page, id := path, ""
	if len(parts) > 1 {
		id, parts[1] = parts[1], "ID"
		page = strings.Join(parts, "/")
	}
	reads, found := pages[page]
	if !found {
		return failed(404, "no such page")
	}
	if id != "" {
		kind := kinds[parts[0]].collection
		if !objectID(id) && slices.Contains([]string{"persons", "projects", "activities"}, kind) {
			return failed(400, "not an id")
		}
		if !slices.ContainsFunc(i[kind], func(r Record) bool { return r.ID == id }) {
			return failed(404, "no such record")
		}
	}
	context := i.context(reads, id)
	main := shows(parts[len(parts)-1])
	if main == "" {
		return envelope{Status: 200, Count: 1, Data: object{"id": id, "page": page, "context": context}}
	}
	var rows []object
	for _, r := range i.within(main, id) {
		rows = append(rows, object{"id": r.ID, "name": r.Name, "html": "<b>" + r.Name + "</b>"})
	}
	if len(rows) > 0 { // pages show parts of records of other collections, too
		rows[0]["context"] = context
	}
	return listed(rows, query)
}

// shows returns the collection whose records a list shows, or "" for a page that is no list.
func shows(name string) string {
	switch name {
	case "publications", "activities", "all-activities", "cooperation":
		return "activities"
	case "staff", "persons", "person-images":
		return "persons"
	case "units":
		return "groups"
	case "research", "topics":
		return "topics"
	case "collaborators-by-country", "collaborators-map":
		return "organizations"
	case "teaching", "projects", "infrastructures", "news":
		return name
	}
	return ""
}

// within returns the records of a collection that a page shows: all, or those of an id.
func (i Institute) within(collection, id string) (some []Record) {
	for _, r := range i[collection] {
		if id == "" || len(r.Of) == 0 || r.ID == id || slices.Contains(r.Of, id) {
			some = append(some, r)
		}
	}
	return some
}

// context returns a text that changes with every record that a page reads.
func (i Institute) context(reads []string, id string) string {
	var text strings.Builder
	for _, collection := range append(slices.Clone(Common), reads...) {
		h := fnv.New32a()
		for _, r := range i.within(collection, id) {
			fmt.Fprintln(h, r.ID, r.Name, r.Of)
		}
		fmt.Fprintf(&text, "%s %08x ", collection, h.Sum32())
	}
	return strings.TrimSpace(text.String())
}

// api answers a page below /api that does not depend on the session.
func (i Institute) api(path string, query url.Values) envelope {
	name, _, _ := strings.Cut(path, "/")
	collection := name
	switch name {
	case "users":
		collection = "persons"
	case "reviews", "calendar", "google", "activities-suggest":
		collection = "activities"
	case "journal":
		collection = "journals"
	}
	records, found := i[collection]
	if !found {
		return failed(404, "no such page")
	}
	var rows []object
	for _, r := range records {
		rows = append(rows, object{"id": r.ID, "name": r.Name, "of": r.Of})
	}
	return listed(rows, query)
}

// objectID reports whether an id has the form of an ObjectID.
func objectID(id string) bool {
	return len(id) == 24 && strings.Trim(id, "0123456789abcdef") == ""
}
