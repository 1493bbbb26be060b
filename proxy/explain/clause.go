package explain

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/osiris"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Clause is a condition on rows, and what it finds of the record in question. Count is embedded, so that its
// members stand beside the others in JSON.
type Clause struct {
	// in the notation of filters, without the names of fields that the program adds
	Clause  string   `json:"clause"`
	From    string   `json:"from,omitempty"` // the parameter, setting or permission that it comes from
	How     string   `json:"how,omitempty"`  // how it is evaluated
	*Count           // nil for the parts of a clause, and if no row was left to read
	Path    string   `json:"path,omitempty"`
	Values  []string `json:"values,omitempty"`  // what the record has at the path, as Extended JSON
	Holds   *bool    `json:"holds,omitempty"`   // nil without a record
	Error   string   `json:"error,omitempty"`   // why it could not decide
	Clauses []Clause `json:"clauses,omitempty"` // the conditions that it combines

	node filter.Node // nil for a term of a search
}

// Count is how many rows a clause selects. Of is not always the number of all rows, see counting.
type Count struct {
	Rows   int     `json:"rows"`
	Of     int     `json:"of"` // the rows that it was evaluated on
	Millis float64 `json:"ms"`
}

// clauseOf describes a condition, and matches it with a row unless that is nil. more, if it is not nil, adds to it
// and to its parts. The reference matcher decides, not the indexes: an explanation that used those could not show
// that they are wrong. budget bounds the time of regular expressions; nil means no bound.
func clauseOf(n filter.Node, row bson.Raw, budget *pcre.Budget, more func(*Clause)) Clause {
	c := Clause{Clause: strings.ReplaceAll(filter.Text(n), rules.FieldList+".", ""), node: n}
	c.Path, c.Values = filter.Values(n, row)
	if row != nil {
		if holds, err := filter.Match(n, row, budget); err != nil {
			c.Error = err.Error()
		} else {
			c.Holds = &holds
		}
	}
	if more != nil {
		more(&c)
	}
	for _, part := range filter.Parts(n) {
		c.Clauses = append(c.Clauses, clauseOf(part, row, budget, more))
	}
	return c
}

// howOf says how a snapshot evaluates a condition, and whether that reads rows, one by one. A clause that reads
// rows may take as long as a request, so counting restricts it first.
func howOf(s *view.Snapshot, n filter.Node) (how string, reads bool) {
	const read = "rows one by one"
	// Only the database evaluates it, so that its rows are counted there.
	if _, foreign := n.(*filter.ForeignNode); foreign {
		return "the database", false
	}
	if _, resident := s.Resident(); !resident {
		query, exact := filter.Query(n, view.HiddenField)
		switch {
		case exact:
			return "the store", false
		case len(query) <= raw.MinDocument:
			return read, true
		}
		return "the store, then " + read, true
	}
	// In memory a leaf has an index, and the combinations combine what their parts find.
	switch n.(type) {
	case *filter.Leaf:
		return "index", false
	case *filter.Elem:
		return "indexes, then " + read, true
	case *filter.AndNode, *filter.OrNode, *filter.NotNode:
		return "sets of rows", slices.ContainsFunc(filter.Parts(n), func(part filter.Node) bool {
			_, reads := howOf(s, part)
			return reads
		})
	}
	return read, true
}

// onMark reports whether a clause tests the mark of a public record other than for its presence.
func (c Clause) onMark() bool {
	return strings.HasPrefix(c.Path, mark.Field) ||
		slices.ContainsFunc(c.Clauses, Clause.onMark)
}

// sentence says that a clause holds or fails, and on which values; reason is why a record that fails it is left
// out. For example: reason "clause", text "clause `year >= 2020` fails: year is 2019".
func (c Clause) sentence() (reason, text string) {
	reason, text = "clause", "clause `"+c.Clause+"`"
	// Name the parameter, setting or permission, because that is what the reader can change.
	if c.From != "" {
		text += " (" + c.From + ")"
	}
	switch {
	case c.Holds == nil:
		return reason, text + " cannot be decided: " + c.Error
	case *c.Holds:
		reason, text = "selected", text+" holds"
	// Where a clause comes from says more than its text: these are no mistakes of the request.
	case strings.HasPrefix(c.From, "permission "):
		reason = "permission"
		text = "the caller lacks the " + c.From + ", and the record does not name the caller's user"
	case c.From == access.Types:
		reason, text = "hidden type", "the caller may not see this type ("+c.From+")"
	case c.From == lists.FromPublic:
		reason, text = "not public", "the record is not public ("+c.From+")"
	default:
		text += " fails"
	}
	// Name the values on which it depends, each once.
	var facts []string
	for _, leaf := range c.deciding() {
		if fact := leaf.fact(); leaf.Path != "" && !slices.Contains(facts, fact) {
			facts = append(facts, fact)
		}
	}
	if len(facts) > 0 {
		text += ": " + strings.Join(facts, "; ")
	}
	return reason, text
}

// deciding returns the clauses without parts by which a clause holds or fails. A conjunction that fails is decided
// by the parts that fail, one that holds by all of its parts; a disjunction the other way round. In both cases
// these are the parts with the same verdict.
func (c Clause) deciding() (all []Clause) {
	if len(c.Clauses) == 0 || c.Path != "" || c.Holds == nil {
		return []Clause{c}
	}
	for _, part := range c.Clauses {
		if part.Holds != nil && (len(c.Clauses) == 1 || *part.Holds == *c.Holds) {
			// a single part may be the opposite
			all = append(all, part.deciding()...)
		}
	}
	return all
}

// fact says what a record has at the path of a clause. For example: "type is "poster"", or "year is missing".
func (c Clause) fact() string {
	fact := strings.TrimPrefix(c.Path, mark.Field+".") + " is " + cmp.Or(strings.Join(c.Values, ", "), "missing")
	if osiris.FromPortal(c.From) {
		fact += ", kept from the portal by " + c.From
	}
	return fact
}

// changed lists the values that a clause tests and that differ between the record in the source and its row. They
// explain a record that was edited a moment ago: the next run shows it.
func (c Clause) changed(record bson.Raw) (notes []string) {
	for _, leaf := range c.deciding() {
		now := leaf
		if name, _, _ := strings.Cut(leaf.Path, "."); name == "rendered" || rules.Reserved(name) || leaf.node == nil {
			continue // the run makes it
		}
		if _, now.Values = filter.Values(leaf.node, record); len(now.Values) > 0 && now.fact() != leaf.fact() {
			notes = append(notes, "in the source "+now.fact()+": not materialized yet")
		}
	}
	return notes
}
