package page_test

import (
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/lists/page"
)

// personsList is a list of persons, with the card of one above it and a chart in two parts.
func personsList() *page.List {
	l := plainList()
	l.Title, l.OfPersons, l.OpenAccess, l.JSONLD = "People", true, true, nil
	open := func(n int) *int { return &n }
	l.Years = page.FillYears([]page.YearCount{
		{Year: 1, Count: 1, Open: open(1)}, {Year: 2019, Count: 1200, Open: open(300)},
		{Year: 2022, Count: 4, Open: open(0)}, {Year: 2023, Count: 3, Open: open(3)},
	}, true)
	units := page.Extras{Units: []page.Unit{{ID: "BIO", Name: "Biology", Href: base + "/lists/unit/BIO"}}}
	whole := page.Item{ID: "1", HTML: `<a href="https://data.example.org/lists/person/jdoe">Jane Doe</a>`,
		Extras: units,
		Person: &page.Person{
			AcademicTitle: "Dr.", Name: "Jane Doe", Photo: "https://www.example.org/jdoe.jpg?a=1&b=2",
			Position: "Head of the laboratory", Mail: "jane+doe@example.org", Phone: "+49 (0)531 26-16", Room: "B 1.17",
			Profiles: []page.Link{{Href: "https://orcid.org/0000-0002-1825-0097", Label: "ORCID"}},
		}}
	plain := page.Item{ID: "2", HTML: "Bo Quill", Person: &page.Person{Name: "Bo Quill", Phone: "-142"}}
	l.Items, l.Count, l.Pages, l.Facets = []page.Item{whole, plain}, 2, 1, nil
	l.Person, l.Related = &whole, []page.Link{{Href: base + "/lists/persons?unit=BIO", Label: "People"}}
	return l
}

// hostilePersons is a list of persons whose fields are all hostile.
func hostilePersons() *page.List {
	l := personsList()
	bad := page.Link{Href: "javascript:alert(1)//" + hostile, Label: hostile}
	evil := page.Item{ID: hostile, HTML: "Evil", Extras: page.Extras{Units: []page.Unit{{ID: hostile, Name: hostile,
		Href: bad.Href}}}, Person: &page.Person{
		AcademicTitle: hostile, Name: hostile, Photo: "data:image/svg+xml," + hostile, Position: hostile, Mail: hostile,
		Phone: "+1" + hostile, Room: hostile, Profiles: []page.Link{bad},
	}}
	other := evil
	photo := *evil.Person
	photo.Photo = `https://x.example/"onerror="alert(1)<>'` + hostile
	other.Person = &photo
	l.Items, l.Person, l.Related = []page.Item{evil, other}, &evil, []page.Link{bad}
	return l
}

// TestFillYears: a chart has the empty years between others, unless they are far apart.
func TestFillYears(t *testing.T) {
	years := func(all ...int) (list []page.YearCount) {
		for i := 0; i+1 < len(all); i += 2 {
			list = append(list, page.YearCount{Year: all[i], Count: all[i+1]})
		}
		return list
	}
	for _, tt := range []struct{ given, want []page.YearCount }{
		{nil, nil},
		{years(2020, 1), years(2020, 1)},
		{years(2020, 1, 2023, 2), years(2020, 1, 2021, 0, 2022, 0, 2023, 2)},
		{years(1, 5, 2020, 4, 2022, 2), years(1, 5, 2020, 4, 2021, 0, 2022, 2)},
		{years(1, 1, 2020, 1, 2022, 1, 9999, 1), years(1, 1, 2020, 1, 2021, 0, 2022, 1, 9999, 1)},
		{years(1, 1, 9999, 1), years(1, 1, 9999, 1)},
	} {
		got := page.FillYears(tt.given, false)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.given, got, tt.want)
		}
		if again := page.FillYears(got, false); !slices.Equal(again, got) {
			t.Errorf("%v: the second time %v", tt.given, again)
		}
	}
	if got := page.FillYears(years(1900, 1, 1999, 1), false); len(got) != 100 {
		t.Errorf("a hundred years have %d", len(got))
	}
	if got := page.FillYears(years(1900, 1, 2000, 1), false); len(got) != 2 {
		t.Errorf("more have %d", len(got))
	}
}

// TestFarYears: a chart draws no years that are far from the others, and its table has them.
func TestFarYears(t *testing.T) {
	html := string(page.Fragment(personsList()))
	if strings.Count(html, "<rect") != 2+3+2 || !strings.Contains(html, `<th scope="row">1</th><td>1</td>`) {
		t.Errorf("the chart is %s", html)
	}
}
