// Package records reports what keeps records out of lists, or leaves gaps in them: collections that nothing reads,
// codes of types that mean nothing, and records that lack what lists need. It judges by what the readers of records
// say (packages mark and views), and reads nothing by itself.
//
// All functions are pure. A report is bounded for any records.
package records

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"vitrine/rules"
	"vitrine/rules/mark"
)

// Report is what there is to say of the records of a store.
type Report struct {
	// Hint says what the collections are of, if that is not what the configuration says.
	Hint   string   `json:"hint,omitempty"`
	Unread []Unread `json:"unread"` // collections that nothing reads
	Views  []View   `json:"views"`  // of the views that lists show
}

// View is the part of a report about the records of one view.
type View struct {
	View       string `json:"view"`
	Collection string `json:"collection"`
	Records    int    `json:"records"`
	Public     int    `json:"public"` // records that lists show
	// Lacks has what records lack, and how many of them. Those that are not public are only counted by the reason.
	Lacks   []Count   `json:"lacks,omitempty"`
	Unknown []Unknown `json:"unknown_types,omitempty"` // the most frequent ones, at most mostUnknown
	// More and MoreRecords count the other unknown types and subtypes, and their records. If there are very many,
	// More counts the first ones alone.
	More        int `json:"more_unknown_types,omitempty"`
	MoreRecords int `json:"more_unknown_records,omitempty"`
}

// Count is a number of records that lack the same.
type Count struct {
	Lack    string    `json:"lack"`
	Records int       `json:"records"`
	Of      mark.Lack `json:"code"` // that Lack names
}

// Unknown is a type or subtype without a meaning.
type Unknown struct {
	Kind    string `json:"type"` // or "type/subtype" if the type is known; empty: no type
	Records int    `json:"records"`
	Near    string `json:"near,omitempty"`
}

// mostUnknown bounds the unknown types and subtypes of a report.
const mostUnknown = 10

// withheld are the reasons for which a record is in no list.
const withheld = mark.NotPublic | mark.Hidden | mark.Unlisted | mark.Undecided

// nameOf returns a lack of a view's records in words.
func nameOf(l mark.Lack, view string) string {
	switch l {
	case mark.NoTitle:
		if view == rules.ViewPersons {
			return "without first and last name"
		}
		return "without title"
	case mark.NoDate:
		return "without year"
	case mark.NoPersons:
		return "without authors"
	case mark.NoKey:
		if view == rules.ViewPersons {
			return "without username"
		}
		return "without name"
	case mark.NotPublic:
		return "without public: true"
	case mark.Hidden:
		return "hidden by hide"
	case mark.Undecided:
		return "that lists.public cannot judge"
	}
	return "left out by lists.public"
}

// Of reports about the records of a view. facts yields what each record lacks and its kind, as Kinds has numbered
// it.
func (t *Kinds) Of(view, collection string, facts iter.Seq2[mark.Lack, uint16], known Known) View {
	v := View{View: view, Collection: collection}
	lacks := map[mark.Lack]int{}
	kinds := map[uint16]int{}
	for lack, kind := range facts {
		v.Records++
		if lack&withheld == 0 {
			v.Public++
		}
		for _, one := range mark.Lacks() {
			if lack&one != 0 {
				lacks[one]++
			}
		}
		kinds[kind]++
	}
	for _, one := range mark.Lacks() {
		if n := lacks[one]; n > 0 {
			v.Lacks = append(v.Lacks, Count{Lack: nameOf(one, view), Records: n, Of: one})
		}
	}
	if view == rules.ViewActivities {
		v.judge(t, kinds, known)
	}
	return v
}

// judge sets what is unknown of kinds; counts has the records by number.
func (v *View) judge(t *Kinds, counts map[uint16]int, known Known) {
	wrong := map[Kind]int{}
	for number := beyond + 1; number < len(t.kinds); number++ {
		if n := counts[uint16(number)]; n > 0 {
			if kind, ok := known.unknown(t.kinds[number]); !ok {
				wrong[kind] += n
			}
		}
	}
	for kind, n := range wrong {
		v.Unknown = append(v.Unknown, Unknown{Kind: kind.String(), Records: n})
	}
	slices.SortFunc(v.Unknown, func(a, b Unknown) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), strings.Compare(a.Kind, b.Kind))
	})
	if len(known.Types) > 0 {
		v.MoreRecords = counts[beyond]
	}
	for i := mostUnknown; i < len(v.Unknown); i++ {
		v.More++
		v.MoreRecords += v.Unknown[i].Records
	}
	v.Unknown = slices.Clip(v.Unknown[:min(len(v.Unknown), mostUnknown)])
	for i := range v.Unknown {
		typ, subtype, _ := strings.Cut(v.Unknown[i].Kind, "/")
		if !slices.Contains(known.Types, typ) { // a type may contain a slash
			typ, subtype = v.Unknown[i].Kind, ""
		}
		v.Unknown[i].Near = known.near(Kind{typ, subtype})
	}
}

// Lines says in words what there is to do or to know, in a bounded number of lines. It returns none for records
// without flaws.
func (v *View) Lines() (all []string) {
	if v.Records > 0 && v.Public == 0 {
		all = append(all, fmt.Sprintf("not public: all of %d records%s", v.Records, v.reasons(withheld)))
	} else if reasons := v.reasons(withheld); reasons != "" {
		all = append(all, fmt.Sprintf("not public: %d of %d records%s", v.Records-v.Public, v.Records, reasons))
	}
	if lacks := v.reasons(^withheld); lacks != "" {
		all = append(all, fmt.Sprintf("lacking what lists need, of %d public records%s", v.Public, lacks))
	}
	for _, u := range v.Unknown {
		all = append(all, u.String())
	}
	if v.MoreRecords > 0 {
		all = append(all, fmt.Sprintf("other unknown types: %d records", v.MoreRecords))
	}
	return all
}

// reasons returns what records lack of a set, with numbers, after a colon.
func (v *View) reasons(set mark.Lack) string {
	var all []string
	for _, c := range v.Lacks {
		if c.Of&set != 0 {
			all = append(all, fmt.Sprintf("%d %s", c.Records, c.Lack))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ", " + strings.Join(all, ", ")
}

// String says what is unknown.
func (u Unknown) String() string {
	if u.Kind == "" {
		return fmt.Sprintf("no type: %d records", u.Records)
	}
	near := ""
	if u.Near != "" {
		near = ", did you mean " + u.Near + "?"
	}
	return fmt.Sprintf("unknown type %q: %d records%s", u.Kind, u.Records, near)
}

// Fault reports whether there is something to repair: records that no list can show as they are meant. Records that
// are withheld are no fault unless all are, and neither are those without authors, which many are meant to be.
func (v *View) Fault() bool {
	const repair = mark.NoTitle | mark.NoDate | mark.NoKey | mark.Undecided
	return len(v.Unknown) > 0 || v.MoreRecords > 0 || v.Records > 0 && v.Public == 0 || v.reasons(repair) != ""
}

// Fault reports whether any part has a fault.
func (r *Report) Fault() bool {
	return slices.ContainsFunc(r.Unread, Unread.Fault) ||
		slices.ContainsFunc(r.Views, func(v View) bool { return v.Fault() })
}

// Lines says all of a report in words: first of collections, then of records.
func (r *Report) Lines() (all []string) {
	if r.Hint != "" {
		all = append(all, r.Hint)
	}
	for i, u := range r.Unread {
		if i == mostUnread {
			all = append(all, fmt.Sprintf("found %d more collections, which nothing reads", len(r.Unread)-i))
			break
		}
		all = append(all, u.String())
	}
	for i := range r.Views {
		for _, line := range r.Views[i].Lines() {
			all = append(all, r.Views[i].Collection+": "+line)
		}
	}
	return all
}

// mostUnread bounds the collections that Lines names one by one.
const mostUnread = 10
