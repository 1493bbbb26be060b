package compare

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// relation is a relation of the two values of a difference, by which a rule accepts it, and by which reports name its
// cause. It looks at both values. A look at one alone would take a mistake for what the value looks like: a rule for
// links to activities would accept every link.
type relation struct {
	name string
	says string // for people, of what the old side has and the new one
	// holds reports whether the values have the relation. It never panics, whatever the values are.
	holds func(d Difference) bool
	asks  bool // holds may ask the sides for more
}

// relations are all relations. The first that holds names the cause of a difference, so strict ones come first. It
// is a function, because relations compare answers, which have relations.
func relations() []relation {
	return []relation{
		{name: "status of the envelope",
			says: "200 in the old answers, the status of the envelope in the new ones", holds: ofEnvelope},
		{name: "error message", says: "another message of the same error", holds: sameError},
		{name: "instant", says: "both are the time of the answer's data", holds: instant},
		{name: "restricted", says: "the new answer is empty, because its caller lacks a permission",
			holds: restricted},
		{name: "hidden field", says: "a field that the new side hides", holds: hiddenField},
		{name: "tie", says: "rows of the same rank in another order", holds: ofList("tie")},
		{name: "unsorted", says: "unsorted in the old answers, in Vitrine's order in the new ones",
			holds: ofList("unsorted")},
		{name: "number as text", says: "a number on one side, the same digits as text on the other",
			holds: numberAsText},
		{name: "zero for false", says: "false in the old answers, 0 in the new ones", holds: zeroForFalse},
		{name: "offset for true", says: "true in the old answers, the number asked for in the new ones",
			holds: offsetForTrue},
		{name: "as asked", says: "the limit or offset that was asked for, which the old side ignores",
			holds: asAsked},
		{name: "null for empty", says: "null in the old answers, an empty list in the new ones",
			holds: nullForEmpty},
		{name: "wrong parameter", says: "the new side says which parameter is wrong, which the old side ignores",
			holds: wrongParameter},
		{name: "element", says: "all values of a list in the old answers, the one of this element in the new ones",
			holds: elementOf},
		{name: "unknown unit", says: "two texts for a unit that does not exist", holds: unknownUnit},
		{name: "same id", says: "links to the same record at other paths", holds: sameID},
		{name: "same identifier", says: "addresses of the same DOI or PubMed number", holds: sameIdentifier},
		{name: "same url", says: "the same address, written with other escapes", holds: sameURL},
		{name: "style", says: "an attribute that the new side does not allow", holds: styleGone},
		{name: "cleaned", says: "markup that the new side does not allow is left out or escaped", holds: cleaned},
		{name: "no web address",
			says: "an address that is no web address is missing in the new answers", holds: noWebAddress},
		{name: "badge", says: "tags of a badge or an icon around the same words", holds: badge},
		{name: "link of the row", says: "a link to the row's own record", holds: linkOfRow},
		{name: "link of a person",
			says: "a link to a person, which is missing in the new answers", holds: linkOfPerson},
		{name: "file icon", says: "icons of files, which are missing in the new answers", holds: fileIcon},
		{name: "case", says: "the same letters in another case", holds: sameLetters},
		{name: "white space", says: "the same but for white space", holds: sameButSpace},
		{name: "bare id", says: "the id of a record, which is missing in the new answers", holds: bareID},
		{name: "region", says: "a country's name in the old answers, its code in the new ones",
			holds: region},
		{name: "day unknown",
			says:  "the first of a month in the old answers, the month alone in the new ones: the record has no day",
			holds: dayUnknown, asks: true},
		{name: "label", says: "the same label in another language", holds: otherLanguage, asks: true},
		{name: "no filter",
			says:  "an error in the old answers, because the groups have no filter; with a filter both agree",
			holds: noFilter, asks: true},
		{name: "count of the list",
			says:  "the number of rows in the page in the old answers, in the list in the new ones",
			holds: countOfList, asks: true},
		{name: "limit of 0", says: "no rows in the old answers, the whole list in the new ones", holds: noRowsOf0,
			asks: true},
		{name: "page", says: "another choice of rows of the same rank: both whole lists agree", holds: samePage,
			asks: true},
		{name: "offset", says: "another page: both whole lists agree, and OSIRIS skips one row for any offset",
			holds: offsetPage, asks: true},
	}
}

// relationNamed returns the relation with a name, or nil.
func relationNamed(name string) *relation {
	all := relations()
	if at := slices.IndexFunc(all, func(r relation) bool { return r.name == name }); at >= 0 {
		return &all[at]
	}
	return nil
}

func relationNames() (names []string) {
	for _, r := range relations() {
		names = append(names, r.name)
	}
	return names
}

// related returns the name of the first relation that holds, or "". It asks no side.
func (d Difference) related() string {
	for _, r := range relations() {
		if !r.asks && r.holds(d) {
			return r.name
		}
	}
	return ""
}

// ofList returns the relation of the orders of two lists that rows found.
func ofList(name string) func(Difference) bool {
	return func(d Difference) bool { return d.Kind == Order && d.list == name }
}

// ofEnvelope: OSIRIS answers every call with 200, and says the status in the envelope.
func ofEnvelope(d Difference) bool {
	if d.Kind != Status || d.Path != "HTTP" || d.about == nil {
		return false
	}
	old, new := d.about.both()
	return old.Status == http.StatusOK && new.Status == new.envelope() && old.envelope() == new.envelope()
}

// sameError: the envelopes have the same status, and the same code of an error.
func sameError(d Difference) bool {
	if d.about == nil || d.Path != "$.msg" || d.New == "" {
		return false
	}
	type envelope struct{ Error string }
	old, new := d.about.both()
	was, is := decoded[envelope](old.Body), decoded[envelope](new.Body)
	return old.envelope() >= http.StatusBadRequest && old.envelope() == new.envelope() && was == is && is.Error != ""
}

// restricted: the new answer alone says that it is restricted, and shows nothing at all. A restricted list that has
// rows may lack one by mistake. An answer that shows nothing is short, so a long one is not decoded for each
// difference.
func restricted(d Difference) bool {
	if d.about == nil {
		return false
	}
	old, new := d.about.both()
	if old.Restricted || !new.Restricted || len(new.Body) > mostEmpty {
		return false
	}
	type list struct {
		Count *int
		Data  []value
	}
	for _, document := range documents(new.Body) {
		if l := decoded[list](document); l.Count == nil || *l.Count != 0 || l.Data == nil || len(l.Data) > 0 {
			return false
		}
	}
	switch path := index.ReplaceAllString(d.Path, "[*]"); d.Kind {
	case RowMissing:
		return path == "$.data[*]" || path == "$[*].data[*]"
	case Count, FieldChanged:
		return d.New == "0" && (path == "$.count" || path == "$[*].count")
	case FieldMissing:
		return strings.HasSuffix(path, ".limit") || strings.HasSuffix(path, ".offset")
	}
	return false
}

// mostEmpty is how many bytes an answer without rows may have.
const mostEmpty = 1 << 10

// hiddenField: the new side leaves out a field that it hides, or refuses to be asked for it.
func hiddenField(d Difference) bool {
	switch {
	case d.about == nil:
		return false
	case d.Kind == Status && d.Path == "" && d.Old == "200" && d.New == "400":
		_, new := d.about.both()
		says, is := new.wrongCall()
		return is && slices.ContainsFunc(d.about.asked().parameters()["columns[]"], func(field string) bool {
			return d.about.hides(field) && strings.Contains(says, field)
		})
	}
	_, member, _ := strings.Cut(index.ReplaceAllString(d.Path, ""), "$.data.")
	return d.Kind == FieldMissing && d.about.hides(member)
}

// wholeNumber and numeric match texts that PHP takes for numbers.
var (
	wholeNumber = regexp.MustCompile(`^[ \t\n\r\v\f]*[+-]?\d+[ \t\n\r\v\f]*$`)
	numeric     = regexp.MustCompile(`^[ \t\n\r\v\f]*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[ \t\n\r\v\f]*$`)
)

// numberAsText: one is a text, and the other the number that PHP's JSON_NUMERIC_CHECK writes for it. A text of
// digits is that integer, unless it has more digits than fit, and all others are that float.
func numberAsText(d Difference) bool {
	text, number := d.is, d.was
	if len(number) == 0 || len(text) == 0 || len(number) > 64 || len(text) > 64 {
		return false
	}
	if number[0] == '"' {
		text, number = number, text
	}
	if text[0] != '"' || number[0] != '-' && (number[0] < '0' || number[0] > '9') {
		return false
	}
	written := decoded[string](text)
	if !numeric.MatchString(written) {
		return false
	}
	trimmed := strings.TrimSpace(written)
	if wholeNumber.MatchString(written) {
		if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
			return strconv.FormatInt(n, 10) == string(number) || n == 0 && strings.Trim(string(number), "-0.") == ""
		}
	}
	was, wasErr := strconv.ParseFloat(trimmed, 64)
	is, isErr := strconv.ParseFloat(string(number), 64)
	return wasErr == nil && isErr == nil && was == is
}

// zeroForFalse: OSIRIS computes the offset as a truth value.
func zeroForFalse(d Difference) bool { return string(d.was) == "false" && string(d.is) == "0" }

// offsetForTrue is zeroForFalse for the other offsets. The number has to be the one that was asked for.
func offsetForTrue(d Difference) bool {
	if d.about == nil || string(d.was) != "true" {
		return false
	}
	asked, err := strconv.Atoi(d.about.asked().parameter("offset"))
	return err == nil && asked != 0 && string(d.is) == strconv.Itoa(max(asked, 0))
}

// asAsked: the new side reads limit and offset where OSIRIS does not, and says which.
func asAsked(d Difference) bool {
	if d.about == nil || d.Kind != FieldAdded {
		return false
	}
	asked := d.about.asked()
	limit, _ := strconv.Atoi(asked.parameter("limit")) // 0 for what is none
	switch d.Path {
	case "$.limit":
		return limit > 0 && d.New == strconv.Itoa(limit)
	case "$.offset":
		return asked.parameter("limit") != "" && d.New == strconv.Itoa(asked.offset())
	}
	return false
}

// nullForEmpty: OSIRIS has null where a record has no array.
func nullForEmpty(d Difference) bool { return string(d.was) == "null" && string(d.is) == "[]" }

// noFilter: OSIRIS fails to group without a filter, because it leaves an empty stage in its query. With a filter that
// all records fit, both sides agree, and the new one has the same groups without it.
func noFilter(d Difference) bool {
	if d.Kind != Status || d.Path != "" || d.about == nil || d.Old != "500" || d.New != "200" {
		return false
	}
	asked := d.about.asked().parameters()
	for name := range asked {
		if name == "json" || name == "search" || strings.HasPrefix(name, "filter") {
			return false
		}
	}
	return asked.Get("aggregate") != "" && d.about.agreesFiltered()
}

// sameLetters: no rule that is built in accepts it. It names a cause.
func sameLetters(d Difference) bool { return d.Old != d.New && strings.EqualFold(d.Old, d.New) }

// sameButSpace is for texts that are no HTML, where white space does not count.
func sameButSpace(d Difference) bool {
	return max(len(d.Old), len(d.New)) <= mostSpelled && d.Old != d.New &&
		strings.Join(strings.Fields(d.Old), "") == strings.Join(strings.Fields(d.New), "")
}

// unknownUnit: the two texts for a unit that does not exist.
func unknownUnit(d Difference) bool { return d.Old == "Unknown Unit" && d.New == "Unit not found" }

// kindsOfRecords has the paths below which OSIRIS and its portal show one record, by the record's kind.
var kindsOfRecords = map[string]string{
	"/activities/view": "activity", "/activity": "activity",
	"/profile": "person", "/person": "person",
	"/projects/view": "project", "/project": "project",
	"/groups/view": "unit", "/group": "unit", "/unit": "unit",
}

// recordPath matches the path of a record: what is in front, the kind's path and the id.
var recordPath = regexp.MustCompile(`^((?:https?://[^/?#]+)?(?:/[^/?#]+)*?)` +
	`(/activities/view|/activity|/profile|/person|/projects/view|/project|/groups/view|/group|/unit)/([^/?#\s]+)$`)

// recordOf returns the kind and the id of the record to which an address leads, and what is in front of its path.
func recordOf(address string) (front, kind, id string) {
	if len(address) > mostURL {
		return "", "", ""
	}
	found := recordPath.FindStringSubmatch(address)
	if found == nil {
		return "", "", ""
	}
	return found[1], kindsOfRecords[found[2]], found[3]
}

// sameID: both are addresses of the same record, such as /activities/view/64a0 and /activity/64a0.
func sameID(d Difference) bool {
	front, kind, id := recordOf(d.Old)
	newFront, newKind, newID := recordOf(d.New)
	return id != "" && front == newFront && kind == newKind && id == newID && d.Old != d.New
}

// resolvers have the addresses of services before an identifier.
var resolvers = regexp.MustCompile(`^https?://(?:(?:dx\.|www\.)?doi\.org/(10\..+)|` +
	`www\.ncbi\.nlm\.nih\.gov/pubmed/(\d+)/?|pubmed\.ncbi\.nlm\.nih\.gov/(\d+)/?)$`)

// sameIdentifier: both are addresses of the same DOI or PubMed number at services that resolve it.
func sameIdentifier(d Difference) bool {
	if max(len(d.Old), len(d.New)) > mostURL || d.Old == d.New {
		return false
	}
	old, new := resolvers.FindStringSubmatch(d.Old), resolvers.FindStringSubmatch(d.New)
	if old == nil || new == nil {
		return false
	}
	if old[1] != "" || new[1] != "" {
		return plainURL(old[1]) == plainURL(new[1])
	}
	return old[2]+old[3] == new[2]+new[3]
}

// sameURL: the addresses differ only in what is escaped that may be written either way.
func sameURL(d Difference) bool {
	return d.Old != d.New && max(len(d.Old), len(d.New)) <= mostURL && address.MatchString(d.Old) &&
		address.MatchString(d.New) && plainURL(d.Old) == plainURL(d.New)
}

// address matches what may be an address, so that sameURL does not hold for any text with a percent sign.
var address = regexp.MustCompile(`^(https?:/|/|mailto:)\S`)

// plainURL returns an address in one spelling. It decodes all characters but those that mean something else when
// they are not escaped. %20 is a space, but %2F is no slash, and %25 stays, so that what is escaped twice differs.
func plainURL(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				if strings.IndexByte("%/?#[]@!$&'()*+,;=:", byte(n)) < 0 {
					b.WriteByte(byte(n))
				} else {
					b.WriteString(strings.ToUpper(text[i : i+3]))
				}
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return strings.TrimSpace(b.String())
}

// styleGone: a style attribute that the new side leaves out.
func styleGone(d Difference) bool {
	return d.Kind == Attribute && strings.HasSuffix(d.Path, "@style") && d.New == "" && d.Old != ""
}
