package proxytest

import (
	"cmp"
	"os"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	viewindex "vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/proxy/api"
	"vitrine/proxy/lists"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
	"vitrine/rules/styles"
)

// collections are the source collections of the views that lists show.
var collections = map[string]string{
	rules.ViewActivities: "activities", rules.ViewProjects: "projects", rules.ViewEvents: "conferences",
	rules.ViewPersons: "persons",
}

// PublicRule is the rule by which the records of PublicStore are public.
const PublicRule = `{"hide": {"$in": [null, false, 0, "", "0", "false"]}, ` +
	`"workflow.status": {"$nin": ["rejected", "in-review"]}}`

// CiteRules returns the built-in mapping rules for records without the fields in hidden.
func CiteRules(t testing.TB, hidden ...string) *cite.Mapping {
	t.Helper()
	r, err := cite.Load(configs.CiteRules())
	if err != nil {
		t.Fatal(err)
	}
	return r.Hiding(hiding(t, hidden).String())
}

func hiding(t testing.TB, hidden []string) *access.Fields {
	t.Helper()
	fields, err := access.NewFields(hidden)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// marked returns the rows of a view with the marks that the materializer writes.
func (s *Store) marked(t testing.TB, view string, docs []bson.Raw) (rows []bson.Raw) {
	t.Helper()
	for _, doc := range docs {
		made, _, err := s.directory.Make(view, doc)
		if err == nil && made != nil && s.finish != nil {
			made, err = s.finish(view, made)
		}
		if err != nil {
			t.Fatal(err)
		}
		if made != nil {
			if doc, err = raw.SetField(doc, mark.Field,
				bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: made}); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, doc)
	}
	return rows
}

// ListStore returns a store of the demo's records with marks. change may add records to a collection. Callers do not
// see the fields in hidden.
func ListStore(t testing.TB, change func(collection string, docs []bson.Raw) []bson.Raw, hidden ...string) *Store {
	t.Helper()
	docs := map[string][]bson.Raw{}
	for _, name := range []string{"activities", "projects", "conferences", "persons", "groups"} {
		docs[name] = Documents(t, InRepo("configs", "demo", name+".jsonl"))
		if change != nil {
			docs[name] = change(name, docs[name])
		}
	}
	return PublicStore(t, docs, hidden...)
}

// PublicStore returns a store of the given records with the materializer's marks. Callers do not see the fields in
// hidden.
func PublicStore(t testing.TB, docs map[string][]bson.Raw, hidden ...string) *Store {
	t.Helper()
	public, err := filter.Parse([]byte(PublicRule), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mapping, without := CiteRules(t, hidden...), hiding(t, hidden)
	cited := func(view string, record, about bson.Raw) mark.Citation {
		return mapping.View(view).Cited(without.Strip(record), without.Strip(about))
	}
	o := mark.Options{Public: public, Now: Published, Cited: cited}
	d := mark.NewDirectory(o, docs["persons"], docs["groups"], docs["projects"])
	s := NewStore()
	s.directory = d
	for view, name := range collections {
		s.PublishMarked(t, view, docs[name]...)
	}
	return s
}

// PublishMarked is Publish for records of a store from PublicStore.
func (s *Store) PublishMarked(t testing.TB, view string, docs ...bson.Raw) {
	t.Helper()
	s.Publish(view, s.marked(t, view, docs)...)
}

// Styles returns our own citation styles, and others from files by name.
func Styles(t testing.TB, files map[string]string, hidden ...string) *styles.Set {
	t.Helper()
	all, err := styles.Builtin()
	for name, file := range files {
		if err == nil {
			var src []byte
			if src, err = os.ReadFile(file); err == nil {
				all[name], err = styles.ParseStyle(file, src)
			}
		}
	}
	var set *styles.Set
	if err == nil {
		set, err = styles.New(all, nil, CiteRules(t, hidden...).Fingerprint)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Cite publishes the rows of a store from ListStore again, with citations by styles.
func (s *Store) Cite(t testing.TB, set *styles.Set, hidden ...string) {
	t.Helper()
	mapping := CiteRules(t, hidden...)
	s.finish = func(view string, made bson.Raw) (bson.Raw, error) { return set.Finish(mapping.View(view), made) }
	for view := range collections {
		var docs []bson.Raw
		_, err := s.Rows(t.Context(), view, 0, func(row origin.Row) error {
			docs = append(docs, row.Doc)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.PublishMarked(t, view, docs...)
	}
}

// Generation returns the generation of a view in the store.
func (s *Store) Generation(view string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.metas[view].Generation
}

// ListOptions returns options with lists. Callers do not see the fields in hidden.
func ListOptions(t testing.TB, hidden ...string) proxy.Options {
	t.Helper()
	o := Options(t)
	o.Hidden = hiding(t, hidden)
	o.Lists = lists.Options{
		Lists: configs.Lists{Enabled: true, BaseURL: "https://data.example"}, Cite: CiteRules(t, hidden...),
	}
	return o
}

// Named returns lists that a test configures, with the defaults of what the test leaves out.
func Named(all map[string]configs.NamedList) map[string]*configs.NamedList {
	named, usual := map[string]*configs.NamedList{}, configs.NewList()
	for slug, l := range all {
		l.View, l.Group, l.Style = cmp.Or(l.View, usual.View), cmp.Or(l.Group, usual.Group), cmp.Or(l.Style,
			usual.Style)
		l.Sort, l.PageSize = cmp.Or(l.Sort, usual.Sort), cmp.Or(l.PageSize, usual.PageSize)
		if l.Facets == nil {
			l.Facets = usual.Facets
		}
		named[slug] = &l
	}
	return named
}

// ListViews returns the views with everything that lists need. Callers do not see the fields in hidden.
func ListViews(t testing.TB, hidden ...string) []viewindex.Definition {
	return lists.Views(api.Views(), CiteRules(t, hidden...))
}

// OpenHiding serves the demo's records as lists, to callers who do not see the fields in hidden.
func OpenHiding(t testing.TB, change func(collection string, docs []bson.Raw) []bson.Raw, hidden ...string) *Site {
	t.Helper()
	return OpenViews(t, ListStore(t, change, hidden...), ListOptions(t, hidden...), ListViews(t, hidden...), 0)
}

// OpenLists serves the demo's records as lists.
func OpenLists(t testing.TB, change func(collection string, docs []bson.Raw) []bson.Raw) *Site {
	t.Helper()
	return OpenViews(t, ListStore(t, change), ListOptions(t), ListViews(t), 0)
}
