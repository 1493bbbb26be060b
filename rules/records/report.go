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

// Report says what keeps the records of a store out of lists, or leaves gaps in them.
type Report struct {
	// Hint names the preset for the collections, if the configuration has another. It is empty otherwise.
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
	// Lacks counts the records by what they lack. Records that are not public are counted by the reason alone.
	Lacks   []Count   `json:"lacks,omitempty"`
	Unknown []Unknown `json:"unknown_types,omitempty"` // the most frequent ones, at most mostUnknown
	// More counts the unknown types and subtypes beyond mostUnknown, and MoreRecords their records. If there are
	// very many, More counts only some of them.
	More        int `json:"more_unknown_types,omitempty"`
	MoreRecords int `json:"more_unknown_records,omitempty"`
}

// Count is the number of records that lack something.
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

// withheld are the reasons why a record is in no list.
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

// Report returns the part of a report about the records of a view. facts yields what each record lacks, and the
// number of its kind.
func (k *Kinds) Report(view, collection string, facts iter.Seq2[mark.Lack, uint16], known Codes) View {
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
		v.countUnknown(k, kinds, known)
	}
	return v
}

// countUnknown sets the unknown types and subtypes among kinds. counts are the numbers of records by number of a
// kind.
func (v *View) countUnknown(kinds *Kinds, counts map[uint16]int, known Codes) {
	wrong := map[Kind]int{}
	for number := overflow + 1; number < len(kinds.kinds); number++ {
		if n := counts[uint16(number)]; n > 0 {
			if kind, ok := known.check(kinds.kinds[number]); !ok {
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
		v.MoreRecords = counts[overflow]
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

// Lines returns the findings in words, a bounded number of lines; none for records without flaws.
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

// reasons returns how many records lack what of a set, such as ", 3 without title, 2 without year".
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
// are withheld are no fault unless all are. Neither are records without authors, because many have none.
func (v *View) Fault() bool {
	const repair = mark.NoTitle | mark.NoDate | mark.NoKey | mark.Undecided
	return len(v.Unknown) > 0 || v.MoreRecords > 0 || v.Records > 0 && v.Public == 0 || v.reasons(repair) != ""
}

// Fault reports whether any part has a fault.
func (r *Report) Fault() bool {
	return slices.ContainsFunc(r.Unread, Unread.Fault) ||
		slices.ContainsFunc(r.Views, func(v View) bool { return v.Fault() })
}

// Lines returns the whole report in words: first about collections, then about records.
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
