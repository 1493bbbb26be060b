package lists

import (
	"cmp"
	"context"
	"encoding/xml"
	"iter"
	"strconv"
	"strings"
	"time"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// sitemap plans /sitemap.xml: all lists and items or, beyond mostURLs, an index of its parts (?part=1). Search
// engines load the index and then each part, so each is an answer of its own.
func (l *Lists) sitemap(r Request) (response.Plan, error) {
	number := 0 // 0 means the whole, or the index
	for name, value := range r.Args {
		n, err := strconv.ParseUint(string(value), 10, 31)
		if string(name) != "part" || err != nil || n == 0 || strconv.FormatUint(n, 10) != string(value) {
			return response.Plan{}, rules.Wrongf("part", "", "a sitemap accepts only the number of a part")
		}
		number = int(n)
	}
	if r.Base == "" {
		return response.Plan{}, ErrHost
	}
	year := r.year(l.shared.Zone)
	in, of := l.rolling(year)
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		m := siteMap{lists: l, snaps: s, base: r.Base, year: year}
		size, err := m.size(ctx, of)
		switch parts := size.parts(); {
		case err != nil:
			return nil, err
		case number > parts:
			return nil, notFound("The sitemap has no such part.")
		case number == 0 && parts > 1:
			return m.index(ctx, size)
		}
		return m.part(ctx, size, max(number, 1))
	}
	return response.Plan{
		View: views[0], Also: views[1:], Build: build, ContentType: "application/xml; charset=utf-8",
		Caching: response.Caching{Period: in},
		Query:   strings.Join([]string{"sitemap", r.Base, strconv.Itoa(number), of}, "\x00"),
	}, nil
}

// siteMap numbers the places of a site: the start page and the index, then the lists, then the rows of whole views,
// each in its order. Numbers are counted without reading rows, so that a part reads its own rows alone. A row whose
// id cannot be in a path has a number, but no page.
//
//	0, 1          the start page, the index
//	2 …           the lists
//	z.listed …    the rows of activities, then of projects, then of events
type siteMap struct {
	lists *Lists
	snaps response.Snapshots
	base  string
	year  int
}

// size counts the places. The last count is kept, because a request for a part that does not exist has an error,
// which no cache keeps: without it, such requests would count all lists again and again.
func (m siteMap) size(ctx context.Context, year string) (siteSize, error) {
	z := siteSize{version: year + "\x00" + m.snaps.Version(), listed: 2 + len(m.lists.lists)}
	// The version has the year, since a list of the last years may have another size in the next one.
	if last := m.lists.siteSize.Load(); last != nil && last.version == z.version {
		return *last, nil
	}
	for i, one := range m.lists.lists[len(m.lists.o.Named):] {
		if one.ofPersons() {
			continue
		}
		rows, err := m.rows(ctx, len(m.lists.o.Named)+i)
		if err != nil {
			return z, err
		}
		z.items = append(z.items, rows.Count())
		if one.def.View != rules.ViewActivities {
			continue
		}
		snap, err := m.snaps.Of(one.def.View)
		for i := 0; i < len(subjects) && err == nil; i++ {
			var lists int
			lists, err = one.rows.On(snap).Distinct(ctx, subjects[i].name)
			z.listed += lists
		}
		if err != nil {
			return z, err
		}
	}
	m.lists.siteSize.Store(&z) // concurrent requests store the same
	return z, nil
}

// listRows are the rows of a list.
type listRows struct {
	view.Selection
	published time.Time // later changes do not count; in the zone in which days begin
}

// rows selects the rows of the list with a number.
func (m siteMap) rows(ctx context.Context, list int) (listRows, error) {
	rows := m.lists.lists[list].rows
	rows.Year = m.year
	snap, err := m.snaps.Of(rows.View)
	if err != nil {
		return listRows{}, err
	}
	if rows, err = m.lists.fixed(ctx, snap, rows); err != nil {
		return listRows{}, err
	}
	selected, err := snap.Select(ctx, filter.And(m.lists.public, rows.Own()))
	if err != nil {
		return listRows{}, err
	}
	return listRows{selected.Only("_id", mark.Field), snap.Meta().Published.In(m.lists.shared.Zone)}, nil
}

// changed returns when a row last changed, or zero if that is unknown.
func (r listRows) changed(row index.Row) time.Time {
	created, at := times(&item{}, row.Doc(), r.published)
	if at.IsZero() && created.Unix() > 0 {
		at = created
	}
	return at
}

// between yields the rows in [from, to).
func (r listRows) between(ctx context.Context, from, to int) iter.Seq2[index.Row, error] {
	if from >= to {
		return func(func(index.Row, error) bool) {} // a limit of 0 would mean all
	}
	return r.Rows(ctx, from, to-from)
}

// place is a page in a sitemap. If it is unknown when the page changed, changed is zero.
type place struct {
	address string
	changed time.Time
}

// placeBytes is about how many bytes of memory a place takes: its time, and an address of about a hundred bytes.
const placeBytes = 200

// part returns a part of the sitemap, or the whole if it has only one. It reads no rows of other parts, unless it has
// lists, which change with their rows.
func (m siteMap) part(ctx context.Context, z siteSize, number int) (*response.Body, error) {
	from := (number - 1) * mostURLs
	to := min(from+mostURLs, z.places())
	var listed []place
	if from < z.listed {
		last, err := m.lastChanges(ctx, z)
		if err != nil {
			return nil, err
		}
		if listed, err = m.listed(ctx, last); err != nil {
			return nil, err
		}
		listed = listed[min(from, len(listed)):min(to, len(listed))]
	}
	b := sitemapOf("urlset", "url", func(ctx context.Context) iter.Seq2[place, error] {
		return func(yield func(place, error) bool) {
			for _, p := range listed {
				if !yield(p, nil) {
					return
				}
			}
			m.items(ctx, max(from-z.listed, 0), to-z.listed, yield)
		}
	})
	b.SizeHint = (to - from) * (len(m.base) + len("<url><loc>/</loc></url>"))
	b.RowMemory = int64(len(listed) * placeBytes)
	return b, nil
}

// items yields the pages of the rows of whole views in [from, to).
func (m siteMap) items(ctx context.Context, from, to int, yield func(place, error) bool) {
	links := Links{Base: m.base}
	for list := len(m.lists.o.Named); list < len(m.lists.lists) && from < to; list++ {
		if m.lists.lists[list].ofPersons() {
			continue
		}
		rows, err := m.rows(ctx, list)
		if err != nil {
			yield(place{}, err)
			return
		}
		n := rows.Count()
		for row, err := range rows.between(ctx, from, min(to, n)) {
			if err != nil {
				yield(place{}, err)
				return
			}
			own := links.ItemPage(selection.IDText(row.Doc()))
			if strings.HasSuffix(own, "/") { // the id cannot be in a path
				continue
			}
			if !yield(place{own, rows.changed(row).In(m.lists.shared.Zone)}, nil) {
				return
			}
		}
		from, to = max(from-n, 0), to-n
	}
}

// lastChanges are when pages last changed.
type lastChanges struct {
	all time.Time // of all rows
	// of the list about a subject, by its kind and id, or of one with a path, by "" and that
	lists map[[2]string]time.Time
	parts []time.Time // of the items in each part
}

// lastChanges reads all rows, in the order in which places are numbered. Only the index of parts, and the part that
// begins with the lists, need it.
func (m siteMap) lastChanges(ctx context.Context, z siteSize) (last lastChanges, err error) {
	last.lists, last.parts = map[[2]string]time.Time{}, make([]time.Time, z.parts())
	// Rows of the configured lists have no numbers: they are rows of whole views, too.
	number := z.listed
	for list, one := range m.lists.lists {
		rows, err := m.rows(ctx, list)
		if err != nil {
			return last, err
		}
		whole := list >= len(m.lists.o.Named) && !one.ofPersons()
		for row, err := range rows.Rows(ctx, 0, 0) {
			if err = cmp.Or(err, fair.TurnOf(ctx).Check(ctx)); err != nil {
				return last, err
			}
			at := rows.changed(row)
			last.note(at, "", one.path)
			if !whole {
				continue
			}
			part := &last.parts[min(number/mostURLs, len(last.parts)-1)]
			*part = latest(*part, at)
			number++
			// Each row counts for all lists that it is in.
			for i := 0; i < len(subjects) && one.def.View == rules.ViewActivities; i++ {
				// whose lists have activities alone
				for about := range mark.Entries(mark.Of(row.Doc()), subjects[i].name+"s") {
					last.note(at, subjects[i].name, raw.StringField(about, "id"))
				}
			}
		}
	}
	return last, nil
}

// note records that a row of a list changed.
func (c *lastChanges) note(at time.Time, kind, id string) {
	c.all = latest(c.all, at)
	if list := [2]string{kind, id}; at.After(c.lists[list]) {
		c.lists[list] = at
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// listed returns the start page, the index and the lists. A list changed when the last of its records did, the other
// two when the last of all did.
func (m siteMap) listed(ctx context.Context, last lastChanges) ([]place, error) {
	sections, err := m.lists.sections(ctx, m.snaps, "", m.lists.shared.Language, m.year, nil)
	if err != nil {
		return nil, err
	}
	zone := m.lists.shared.Zone
	all := []place{{m.base + "/", last.all.In(zone)}, {m.base + "/lists", last.all.In(zone)}}
	for _, s := range sections {
		for _, e := range s.Lists {
			all = append(all, place{m.base + e.Href, last.lists[[2]string{s.Kind, cmp.Or(e.ID, e.Href)}].In(zone)})
		}
	}
	return all, nil
}

// index returns the index of the parts.
func (m siteMap) index(ctx context.Context, z siteSize) (*response.Body, error) {
	last, err := m.lastChanges(ctx, z)
	if err != nil {
		return nil, err
	}
	listed, err := m.listed(ctx, last)
	if err != nil {
		return nil, err
	}
	for i, p := range listed {
		part := &last.parts[i/mostURLs]
		*part = latest(*part, p.changed)
	}
	return sitemapOf("sitemapindex", "sitemap", func(context.Context) iter.Seq2[place, error] {
		return func(yield func(place, error) bool) {
			for i, at := range last.parts {
				if !yield(place{m.base + "/sitemap.xml?part=" + strconv.Itoa(i+1), at.In(m.lists.shared.Zone)}, nil) {
					return
				}
			}
		}
	}), nil
}

// sitemapOf writes a sitemap, or an index of sitemaps (sitemaps.org). A place whose change is unknown has no
// lastmod.
func sitemapOf(outer, inner string, places response.Rows[place]) *response.Body {
	e := response.Envelope{
		Head: []byte(xml.Header + "<" + outer + ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"),
		Tail: []byte("</" + outer + ">\n"),
	}
	return response.Join(e, places, func(dst []byte, p place) []byte {
		dst = append(append(append(dst, '<'), inner...), "><loc>"...)
		dst = append(append(dst, markup.Escape(p.address)...), "</loc>"...)
		if !p.changed.IsZero() {
			dst = append(p.changed.AppendFormat(append(dst, "<lastmod>"...), time.DateOnly), "</lastmod>"...)
		}
		return append(append(append(dst, "</"...), inner...), ">\n"...)
	})
}

// Robots returns robots.txt. It refuses nothing: search engines load lists for the pages of other sites.
func Robots(base string) []byte {
	text := "User-agent: *\nDisallow:\n"
	if base != "" {
		text += "\nSitemap: " + base + "/sitemap.xml\n"
	}
	return []byte(text)
}
