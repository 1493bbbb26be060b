package cite

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.yaml.in/yaml/v3"

	"vitrine/rules"
	"vitrine/rules/identifier"
	"vitrine/rules/notice"
	"vitrine/rules/raw"
)

// notices says which stored fields and words tell that a work was retracted or the like, or that it
// is the notice of that. The maps are those of the file. The slots are in the order of their names,
// so that the notices of a record do not depend on the order of a map.
type notices struct {
	Flags, Works, Updates, Codes, Titles map[string]string
	Relations, Types                     []string

	slots            []int // of fields
	fields           []notice.Field
	relations, types []int // slots
	named            map[string]notice.Field
	codes, titles    *notice.Words
}

// notices reads the section with its spellings of field names.
func (l *loader) notices(n *yaml.Node) {
	to, path := &l.to.notices, "notices"
	l.Mapping(n, path, "flags", "works", "updates", "relations", "types", "codes", "titles")
	if n.Decode(to) != nil {
		l.Errorf(n, path, "expected codes of fields and words, and lists of fields")
	}
	to.codes, to.titles = notice.NewWords(to.Codes), notice.NewWords(to.Titles)
	to.named = map[string]notice.Field{}
	for name, code := range to.Flags {
		to.named[name] = notice.Field{Flag: code}
	}
	for name, code := range to.Works {
		to.named[name] = notice.Field{Flag: to.Flags[name], Work: code}
	}
	for name, code := range to.Updates {
		to.named[name] = notice.Field{Work: code, Types: to.codes}
	}
	for _, codes := range []map[string]string{to.Flags, to.Works, to.Updates, to.Codes, to.Titles} {
		for name, code := range codes {
			if !notice.IsCode(code) {
				l.Errorf(n, path, "%s: unknown code %q", name, code)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(to.named)) {
		slot := l.slot(n, path, name)
		for _, spelling := range spellings(name) { // the first of those that a record has counts
			if _, ok := l.to.slots[spelling]; !ok {
				l.to.slots[spelling] = slot
			}
		}
		to.slots, to.fields = append(to.slots, slot), append(to.fields, to.named[name])
	}
	for _, name := range to.Relations {
		to.relations = append(to.relations, l.slot(n, path+".relations", name))
	}
	for _, name := range to.Types {
		to.types = append(to.types, l.slot(n, path+".types", name))
	}
}

// spellings returns the forms of a name of several words: update to, update-to, update_to, updateTo.
func spellings(name string) []string {
	words := strings.Fields(name)
	for i := range words[min(1, len(words)):] {
		words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
	}
	return []string{strings.ReplaceAll(name, " ", "-"), strings.ReplaceAll(name, " ", "_"), strings.Join(words, "")}
}

// read sets the notices of an activity. It collects from four sources: fields of their own,
// relations by name, types, and the title. notice.Settle then sorts them and drops repetitions.
func (n *notices) read(it *Item) {
	if it.View != rules.ViewActivities || n.titles == nil {
		return
	}
	var all []notice.Notice
	for i, slot := range n.slots {
		if v := it.values[slot]; v.Type != 0 {
			all = n.fields[i].Append(all, v)
		}
	}
	for _, slot := range n.relations {
		doc, _ := it.values[slot].DocumentOK()
		for e := range raw.All(doc) {
			name := strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(raw.String(e.Key)))
			if field, ok := n.named[name]; ok {
				all = field.Append(all, e.Value())
			}
		}
	}
	for _, slot := range n.types {
		all = n.appendType(all, it.values[slot])
	}
	if code := n.titles.Title(it.Text); code != "" {
		all, it.Titled = append(all, notice.Notice{Code: code}), true
	}
	it.Notices = notice.Settle(all)
}

// appendType appends what the type of a record says, or one of several types. Arrays in arrays are
// not opened, which bounds the recursion.
func (n *notices) appendType(all []notice.Notice, v bson.RawValue) []notice.Notice {
	if v.Type == bson.TypeArray {
		for one := range raw.Elements(v) {
			if one.Type != bson.TypeArray {
				all = n.appendType(all, one)
			}
		}
	} else if raw.IsText(v.Type) {
		if code := n.codes.Named(raw.Text(v)); code != "" {
			all = append(all, notice.Notice{Code: code})
		}
	}
	return all
}

// Notice returns the code of the gravest of the notices, or "". Notices are sorted, so it is the
// first.
func (it *Item) Notice() string {
	if len(it.Notices) == 0 {
		return ""
	}
	return it.Notices[0].Code
}

// note says in words what the notices say: "Retracted by doi:10.5555/n.1; Corrected". Notices with
// one code stand together, and only the first of them repeats the words.
func (it *Item) note() string {
	note, last := "", ""
	for _, n := range it.Notices {
		name := n.URL
		if n.DOI != "" {
			name = "doi:" + n.DOI
		}
		switch {
		case n.Code == last && name != "":
			note += ", " + name
			continue
		case n.Code == last:
			continue
		case last != "":
			note += "; "
		}
		note += formats.Notices[n.Code]
		if last = n.Code; name != "" && notice.IsState(n.Code) {
			note += " by " + name
		} else if name != "" {
			note += " of " + name
		}
	}
	return note
}

// state returns whether the work is retracted, withdrawn, of concern or corrected, as exports call it, or "".
func (it *Item) state() string {
	if code := it.Notice(); notice.IsState(code) {
		return code
	}
	return ""
}

// addresses returns the addresses of the works of the notices that a function selects. A notice
// with an id alone has none.
func (it *Item) addresses(selects func(code string) bool) (all []string) {
	for _, n := range it.Notices {
		if address := cmp.Or(identifier.DOIAddress(n.DOI), n.URL); address != "" && selects(n.Code) {
			all = append(all, address)
		}
	}
	return all
}
