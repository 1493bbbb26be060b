package params

import (
	"cmp"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/suggest"
)

// Query holds the values of a request's parameters by name, in canonical spelling, without default values.
type Query map[string][]string

// Parse reads the names and values of a query string, in a site with some citation styles.
func Parse(args iter.Seq2[[]byte, []byte], citationStyles ...string) (Query, error) {
	given := map[string][]string{}
	for name, value := range args {
		if _, known := lookup(string(name)); !known {
			return nil, rules.Wrongf(query.Printable(string(name)), "", "is no parameter of lists%s",
				hint(string(name)))
		}
		given[string(name)] = append(given[string(name)], string(value))
	}
	q := Query{}
	for _, p := range table {
		values, err := p.with(citationStyles).read(given[p.name])
		if err != nil {
			err.Param = p.name
			return nil, err
		}
		q.set(p, values)
	}
	_, sent := given[Words]
	_, searched := given[And(Words)]
	if sent || searched {
		q = q.searchable() // a form sends its order and no words
	}
	return q, nil
}

// searchable returns the query without an order by relevance, unless it has words.
func (q Query) searchable() Query {
	if q.Text(Sort) == Relevance && len(q.Both(Words)) == 0 {
		return q.With(Sort)
	}
	return q
}

// Strange reports whether a name is not ours, and no misspelling of one of ours either. Hints go further (Near),
// because they help an editor, while a reader cannot mend a link to which a site added "search" for its statistics.
func Strange(name string) bool { return !Known(name) && suggest.Near(name, names()) == "" }

// Near returns the parameter that is meant by a name that is none, or "".
func Near(name string) string {
	for _, prefix := range []string{Not(""), And("")} {
		if rest, found := strings.CutPrefix(strings.ToLower(name), prefix); found {
			if near := prefix + meanings.Near(rest, names()); Known(near) {
				return near
			}
			return ""
		}
	}
	return meanings.Near(name, names())
}

// hint returns the end of the message about an unknown parameter: what to write instead, or "".
func hint(name string) string {
	if near := Near(name); near != "" {
		return ", did you mean " + near + "?"
	}
	if slices.Contains(formatNames, strings.ToLower(name)) {
		return "; the end of the path, such as .json, says the format"
	}
	return ""
}

// meanings has the names that other systems have for parameters of lists.
var meanings = suggest.Meanings{
	{Word: Words, Others: "query search text term find suche"},
	{Word: Person, Others: "author autor name staff people researcher user username orcid persons"},
	{Word: Unit, Others: "department departments org organisation organization institute abteilung units"},
	{Word: Year, Others: "from until since date jahr published"},
	{Word: Topic, Others: "spectrum concept topics"},
	{Word: Keyword, Others: "tag tags subject subjects keywords schlagwort"},
	{Word: Type, Others: "category kind typ types"},
	{Word: Project, Others: "grant funding projects"},
	{Word: OA, Others: "openaccess open_access is_oa"},
	{Word: IDs, Others: "doi dois"},
	{Word: Limit, Others: "per_page perpage page_size pagesize size rows max maxresults max_results top num"},
	{Word: Page, Others: "offset start skip startrecord"},
	{Word: Sort, Others: "order orderby order_by sortby sort_by"},
	{Word: Group, Others: "groupby group_by aggregate"},
	{Word: Lang, Others: "language locale sprache"},
	{Word: Facets, Others: "filters"},
}

// formatNames are names that other systems have for the format of an answer.
var formatNames = []string{"format", "output", "export", "wt", "accept"}

// mostStrange bounds the unknown parameters of a page that are compared with the known ones.
const mostStrange = 32

// WithoutStrange returns the parameters of a page without those that are Strange, and the names of these.
func WithoutStrange(args iter.Seq2[[]byte, []byte]) (rest iter.Seq2[[]byte, []byte], strange []string) {
	var names, values [][]byte
	for name, value := range args {
		if len(strange) < mostStrange && Strange(string(name)) {
			strange = append(strange, string(name))
			continue
		}
		names, values = append(names, name), append(values, value)
	}
	return func(yield func(name, value []byte) bool) {
		for i := range names {
			if !yield(names[i], values[i]) {
				return
			}
		}
	}, strange
}

// read returns the values of a parameter in canonical spelling, without duplicates, or the mistake in the first
// wrong one. Without given texts it returns none.
func (p parameter) read(given []string) (checked []string, err *rules.Error) {
	var all []string
	for _, text := range given {
		values, err := p.split(text)
		if err != nil {
			return nil, err
		}
		all = append(all, values...)
	}
	switch {
	case len(all) > 1 && !p.many:
		return nil, wrongf("takes one value, got %d", len(all))
	case len(all) > cmp.Or(p.most, maxValues):
		return nil, wrongf("has %d values; %d is the limit", len(all), cmp.Or(p.most, maxValues))
	case p.most > 0 && len(all) > 1 && slices.Contains(all, None):
		return nil, wrongf("none stands alone")
	case len(all) > 1 && p.whole:
		all = []string{strings.Join(all, " ")}
	}
	for i, value := range all {
		if value, err = p.spell(value); err != nil {
			if len(all) > 1 {
				err.Where = "value " + strconv.Itoa(i+1)
			}
			return nil, err
		}
		if value != "" && !slices.Contains(checked, value) {
			checked = append(checked, value)
		}
	}
	return checked, nil
}

// split splits a text at commas. It returns no values for a text of white space.
func (p parameter) split(text string) (values []string, err *rules.Error) {
	switch {
	case strings.TrimSpace(text) == "":
		return nil, nil
	case p.whole:
		return []string{text}, nil
	}
	var value strings.Builder
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',':
			trimmed := strings.TrimSpace(value.String())
			if trimmed == "" {
				return nil, rules.Wrongf("", "value "+strconv.Itoa(len(values)+1), "is empty")
			}
			values = append(values, trimmed)
			value.Reset()
		case p.many && !p.span && strings.HasPrefix(text[i:], ".."):
			return nil, rules.Wrongf("", "offset "+strconv.Itoa(i),
				`values have no order, so there are no ranges; two dots are written \.\.`)
		case text[i] == '\\':
			if i++; i == len(text) || !strings.ContainsRune(`,\.`, rune(text[i])) {
				return nil, rules.Wrongf("", "offset "+strconv.Itoa(i-1),
					`a backslash stands before a comma, a dot or another: \, \. or \\`)
			}
			fallthrough
		default:
			value.WriteByte(text[i])
		}
	}
	return values, nil
}

// set sets a parameter to values in canonical order, or deletes it if they are none or the default. It changes q:
// only Parse and With call it, on a query that nothing else has yet.
func (q Query) set(p parameter, values []string) {
	if !p.order {
		slices.Sort(values)
	}
	if len(values) == 0 || len(values) == 1 && values[0] == p.usual {
		delete(q, p.name)
		return
	}
	q[p.name] = values
}

// escape is the inverse of split, but for the dots of ranges.
var escape = strings.NewReplacer(",", `\,`, `\`, `\\`, "..", `\.\.`)

// String returns the query in canonical spelling: names in a fixed order, values escaped.
func (q Query) String() string {
	var all []string
	for _, name := range q.Names() {
		all = append(all, name+"="+separators.Replace(url.QueryEscape(q.FormValue(name))))
	}
	return strings.Join(all, "&")
}

// separators reverses escapes that a query does not need (RFC 3986: 3.4).
var separators = strings.NewReplacer("%2C", ",", "%3A", ":")

// FormValue returns the values of a parameter as a form sends them. It is empty if the parameter is missing.
func (q Query) FormValue(name string) string {
	p, _ := lookup(name)
	if p.whole {
		return q.Text(name)
	}
	escaped := slices.Clone(q[name])
	if p.span {
		return strings.Join(escaped, ",") // numbers, ranges and words
	}
	for i, value := range escaped {
		escaped[i] = escape.Replace(value)
	}
	return strings.Join(escaped, ",")
}

// Text returns the value of a parameter with a single value, or its default.
func (q Query) Text(name string) string {
	if values := q[name]; len(values) > 0 {
		return values[0]
	}
	p, _ := lookup(name)
	return p.usual
}

// Number returns the value of a parameter that is a number, or 0 if it is missing.
func (q Query) Number(name string) int {
	n, _ := strconv.Atoi(q.Text(name)) // Parse has checked the value; Atoi fails only for an empty one
	return n
}

// Flag reports whether a parameter is 1.
func (q Query) Flag(name string) bool { return q.Text(name) == "1" }

// With returns the query with other values of a parameter, in canonical spelling, or without it. Callers pass
// values that Parse would accept.
func (q Query) With(name string, values ...string) Query {
	p, _ := lookup(name)
	changed := Query{}.Over(q)
	changed.set(p, slices.Clone(values))
	return changed
}

// Sendable reports whether Parse accepts the query: no parameter has too many values.
func (q Query) Sendable() bool {
	for _, values := range q {
		if len(values) > maxValues {
			return false
		}
	}
	return true
}

// Toggle returns the query, on its first page, with a value of a parameter added or, if present, removed: the link
// of a facet's value. A year replaces ranges, most of which have it already.
func (q Query) Toggle(name, value string) Query {
	values := slices.DeleteFunc(slices.Clone(q[name]), func(v string) bool { return v == value })
	if len(values) == len(q[name]) {
		if p, _ := lookup(name); p.span {
			values = slices.DeleteFunc(values, isRange)
		}
		values = append(values, value)
	}
	return q.With(name, values...).With(Page)
}

// Only returns the query with some of its parameters.
func (q Query) Only(names ...string) Query {
	only := maps.Clone(q)
	maps.DeleteFunc(only, func(name string, _ []string) bool { return !slices.Contains(names, name) })
	return only
}

// Names returns the names of the query's parameters in canonical order.
func (q Query) Names() (all []string) {
	for _, p := range table {
		if len(q[p.name]) > 0 {
			all = append(all, p.name)
		}
	}
	return all
}

// Entries returns the query with the parameters that select or order entries, without those that change only the
// look.
func (q Query) Entries() Query {
	return q.Only(slices.DeleteFunc(q.Names(), func(name string) bool { p, _ := lookup(name); return p.look })...)
}

// Over returns the query with its missing parameters added from another query: Over of the defaults has all
// effective parameters, and Beyond of them takes these away again.
func (q Query) Over(usual Query) Query {
	over := Query{}
	maps.Copy(over, usual)
	maps.Copy(over, q)
	return over
}

// Beyond returns the query without the parameters whose values another query has, too.
func (q Query) Beyond(usual Query) Query {
	beyond := maps.Clone(q)
	maps.DeleteFunc(beyond, func(name string, values []string) bool { return slices.Equal(values, usual[name]) })
	return beyond
}
