package lists

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/fold"
)

// overview plans the index of lists or, at /, the start page. It depends on all views, since it counts the entries
// of each list. Other formats than JSON do not exist for it, and are answered by the page.
func (l *Lists) overview(r Request, path string, f format, q params.Query) (response.Plan, error) {
	takes := []string{params.Lang, params.Words, params.Limit}
	if path == "/" {
		takes = takes[:1]
	}
	if others := q.Beyond(q.Only(takes...)); len(others) > 0 {
		want := strings.Join(takes, ", ")
		return response.Plan{}, rules.Wrongf("", "", "the index of lists accepts only %s, got %s", want, others)
	}
	photos := path == "/" // the builder shows lists of persons, too
	headers := pageHeaders(page.Policy(l.o.Site.Logo, photos, l.o.Badges...))
	if f.suffix == ".json" {
		headers = nil
	} else {
		f = formats[0]
	}
	// The request's host is not used: the index has no absolute URLs without a configured base, so that it is the
	// same for all hosts.
	base, lang := l.o.BaseURL, cmp.Or(q.Text(params.Lang), l.shared.Language)
	q = q.With(params.Lang, lang).Beyond(params.Query{params.Lang: {l.shared.Language}})
	year := r.year(l.shared.Zone)
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		sections, err := l.sections(ctx, s, base, lang, year, q)
		head, meta := l.head("", lang), s.Own().Meta()
		head.Self, head.AsOf = address(base+path, q), meta.Published
		translate(&head, base+path, base+path, q)
		switch {
		case err != nil:
			return nil, err
		case f.suffix == ".json":
			var files []map[string]string // the files of the element, with hashed paths
			for _, name := range []string{"list.js", "list.css"} {
				f := element.Current(name)
				files = append(files, map[string]string{"href": base + f.Path, "integrity": f.Integrity})
			}
			return jsonBody(map[string]any{
				"sections": sections, "element": files, "generation": meta.Generation, "as_of": head.AsOf.UTC(),
				"self": head.Self,
			})
		case path == "/":
			return response.Bytes(page.Start(head, sections, l.fields())), nil
		}
		return response.Bytes(page.Index(head, q.Text(params.Words), sections)), nil
	}
	key := []string{"lists", path, f.suffix, lang, q.String()}
	in, of := l.rolling(year)
	return response.Plan{
		View: views[0], Also: views[1:], Build: build, ContentType: f.media + f.coding, Headers: headers,
		Query: strings.Join(append(key, of), "\x00"), Caching: response.Caching{Period: in},
	}, nil
}

// rolling returns when an answer made from all lists in a year holds, and the year for its key, if a list rolls.
// Without such a list the answer holds in every year, and its key has none.
func (l *Lists) rolling(year int) (response.Period, string) {
	if !slices.ContainsFunc(l.lists, func(one listing) bool { return one.rows.Fixed.Rolls() }) {
		return response.Period{}, ""
	}
	return response.InYear(year, l.shared.Zone), strconv.Itoa(year)
}

// fields returns the fields of the builder of snippets on the start page. Figures of other services are among them
// only if this server allows them.
func (l *Lists) fields() (all []page.Field) {
	off := func(word string) bool { return page.HasFigures(word) && !slices.Contains(l.o.Badges, word) }
	for _, f := range params.Fields(l.o.Styles.Names()...) {
		if f.Name == params.Show {
			f.Words = slices.DeleteFunc(slices.Clone(f.Words), off)
		}
		all = append(all, page.Field(f))
	}
	return all
}

// sections returns the lists by name: those configured, of whole views, and about the subjects of public
// activities. The words of the query filter them by name, and its limit bounds each section. A section without
// lists is left out.
func (l *Lists) sections(
	ctx context.Context, s response.Snapshots, base, lang string, year int, q params.Query,
) (all []page.Section, err error) {
	all = []page.Section{} // not nil, so that JSON has an empty list
	terms, limit := fold.Terms(q.Text(params.Words)), q.Number(params.Limit)
	add := func(title, kind, key string, e page.ListEntry) {
		// A term matches the beginning of a word of the name, as in a search for records.
		for _, term := range terms {
			if !strings.Contains(" "+key, " "+term) {
				return
			}
		}
		if title = texts.In(lang).T(title); len(all) == 0 || all[len(all)-1].Title != title {
			all = append(all, page.Section{Title: title, Kind: kind})
		}
		if last := &all[len(all)-1]; limit == 0 || len(last.Lists) < limit {
			last.Lists = append(last.Lists, e)
		}
	}
	var activities *answer
	for i, one := range l.lists {
		// one is a copy of the list; Lists does not change.
		one.rows.Query, one.rows.Year = params.Query{params.Lang: {lang}}.Over(one.usual), year
		a, err := one.on(ctx, s, false)
		if err != nil {
			return nil, err
		}
		title := "named"
		if i >= len(l.o.Named) {
			title = "everything"
		}
		add(title, "", fold.Key(a.title), page.ListEntry{
			Title: a.title, Href: base + a.path, Count: a.count, Persons: a.ofPersons(),
		})
		if one.def.slug == rules.ViewActivities {
			activities = a
		}
	}
	for _, about := range subjects {
		names, err := activities.rows.Names(ctx, about.name)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			key := n.SortKey
			// A search finds a unit by its short name, too.
			if len(terms) > 0 {
				key += fold.Key(n.Value)
			}
			if segment(n.Value) != "" {
				add(about.name+"s", about.name, key, page.ListEntry{
					Title: n.Label, Href: base + listPath(about.name, n.Value), ID: n.Value, Count: n.Count,
					Letter: letter(n.SortKey),
				})
			}
		}
	}
	return all, nil
}

// letter returns the letter under which the index lists a name with a sort key, or # for digits and signs. Keys
// have no accents, so that Ä is under A.
func letter(key string) string {
	first, _ := utf8.DecodeRuneInString(key)
	if !unicode.IsLetter(first) {
		return "#"
	}
	return string(unicode.ToUpper(first))
}
