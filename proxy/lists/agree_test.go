package lists_test

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/proxytest"
)

// faces have, for each format, the ids or citation keys of its entries in their order. Those of pages and fragments
// are ids in groups, if the request has groups.
var faces = []struct {
	suffix string
	keys   bool // citation keys instead of ids
	paged  bool // takes group
	read   func(body string) []string
}{
	{"", false, true, each(`<article [^>]*data-id="([^"]*)"`)},
	{".html", true, true, each(`<article [^>]*data-key="([^"]*)"`)},
	{".bib", true, false, each(`(?m)^@\w+\{([^,]+),`)},
	{".ris", true, false, each(`(?m)^ID  - (.*?)\r?$`)},
	{".csl.json", true, false, each(`"citation-key":"([^"]*)"`)},
	{".csv", false, false, func(body string) (ids []string) {
		rows, _ := csv.NewReader(strings.NewReader(body)).ReadAll()
		for _, row := range rows[min(1, len(rows)):] {
			ids = append(ids, row[0])
		}
		return ids
	}},
	{".jsonld", false, false, each(`"item":\{"@type":"[^"]*","@id":"https://data.example/items/([^"]*)"`)},
}

// each returns a function that finds the first group of every match.
func each(pattern string) func(string) []string {
	re := regexp.MustCompile(pattern)
	return func(body string) (found []string) {
		for _, match := range re.FindAllStringSubmatch(body, -1) {
			found = append(found, match[1])
		}
		return found
	}
}

// agreement checks random requests for lists.
type agreement struct {
	*proxytest.Site
	seed   uint64
	r      *rand.Rand
	values map[string][]string // values of each parameter, as requests have them
}

// escape writes a record's value as a request has it.
var escape = strings.NewReplacer(",", `\,`, "..", `\.\.`, " ", "+").Replace

func newAgreement(t *testing.T) *agreement {
	a := &agreement{Site: proxytest.OpenLists(t, withOthers(t)), seed: rand.Uint64()}
	a.r = rand.New(rand.NewPCG(a.seed, 0))
	whole := getList(a.Site, "/lists/activities.json?limit=500&facets="+strings.Join(params.Filters(), ","))
	a.values = map[string][]string{
		params.IDs:  append(idsOf(whole)[:40], "nix", "hide-1", "hide-4", "shown-1", `a\.\.b`),
		params.Year: {"2020..", "..2015", "2018..2022", "last1", "last3", "last99", "missing", "1901..1907", "2023"},
		params.Unit: {"XyzzyquaUnit"}, params.Person: {"xyzzyquauser", "0000-0009-3666-8279"},
		params.Type: {"review", "nix"},
		params.Words: {"moths", "owls+in", "10.5555/hins.2024.1007", "2023", "xyzzyqua", "nothing+has+this",
			"P%C3%B3%C5%82cie%C5%84"},
	}
	for _, name := range params.Filters() {
		for _, v := range whole.Facets[name] {
			a.values[name] = append(a.values[name], escape(v.Value))
		}
	}
	return a
}

// question returns a random combination of parameters that select, sort and page, and a group.
func (a *agreement) question() (query, group string) {
	var all []string
	add := func(probability float64, name string, most int, choices ...string) bool {
		if a.r.Float64() >= probability || len(choices) == 0 {
			return false
		}
		var some []string
		for range 1 + a.r.IntN(most) {
			some = append(some, choices[a.r.IntN(len(choices))])
		}
		all = append(all, name+"="+strings.Join(some, ","))
		return true
	}
	for _, name := range params.Filters() {
		add(0.15, name, 3, a.values[name]...)
		add(0.1, params.Not(name), 3, a.values[name]...)
		add(0.06, params.And(name), 2, a.values[name]...)
		add(0.04, params.And(params.Not(name)), 2, a.values[name]...)
	}
	add(0.05, params.And(params.Words), 1, a.values[params.Words]...)
	add(0.05, params.And(params.IDs), 30, a.values[params.IDs]...)
	add(0.05, params.And(params.Exclude), 3, a.values[params.IDs]...)
	add(0.1, params.Deep, 1, "1")
	add(0.15, params.Words, 1, a.values[params.Words]...)
	add(0.1, params.IDs, 8, a.values[params.IDs]...)
	add(0.1, params.Exclude, 3, a.values[params.IDs]...)
	add(0.5, params.Sort, 1, "year", "-year", "title", "-title", "type", "-type", "author", "-author", "added",
		"-added")
	if add(0.5, params.Limit, 1, "1", "2", "7", "30") {
		add(0.5, params.Page, 1, "1", "2", "3")
	} else {
		all = append(all, "limit=500")
	}
	a.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if a.r.Float64() < 0.3 {
		groups := strings.Fields("year type subtype unit person project keyword year,type type,year")
		group = groups[a.r.IntN(len(groups))]
	}
	return strings.Join(all, "&"), group
}

// without returns a query without some of its parameters.
func without(query string, names ...string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(query, "&"), func(p string) bool {
		name, _, _ := strings.Cut(p, "=")
		return slices.Contains(names, name)
	}), "&")
}

// body returns an answer. It shows nothing hidden, except that its addresses repeat the request.
func (a *agreement) body(target string) string {
	res := a.Get(target, "Accept", "text/html")
	if res.StatusCode != http.StatusOK {
		a.T.Fatalf("seed %d: %s: %s: %.300s", a.seed, target, res.Status, res.Body)
	}
	asked, body := strings.ToLower(target), strings.ToLower(string(res.Body))
	for _, secret := range []string{"hide-", strings.ToLower(proxytest.Secret)} {
		if strings.Contains(body, secret) && !strings.Contains(asked, secret) {
			a.T.Errorf("seed %d: %s shows what is hidden", a.seed, target)
		}
	}
	return string(res.Body)
}

// formats compares the formats of a list with its JSON.
func (a *agreement) formats(list, query, group string) {
	plain := getList(a.Site, list+".json?"+query)
	grouped := plain
	if group != "" {
		grouped = getList(a.Site, list+".json?"+query+"&group="+group)
	}
	for _, f := range faces {
		want, q := plain, query
		if f.paged && group != "" {
			want, q = grouped, query+"&group="+group
		}
		ids := idsOf(want)
		for i, it := range want.Items {
			if f.keys {
				ids[i] = it.Key
			}
			if strings.HasPrefix(it.ID, "hide-") || it.Type == "review" {
				a.T.Errorf("seed %d: %s?%s shows %s", a.seed, list, query, it.ID)
			}
		}
		if got := f.read(a.body(list + f.suffix + "?" + q)); !slices.Equal(got, ids) && len(got)+len(ids) > 0 {
			a.T.Errorf("seed %d: %s%s?%s has %v, want %v", a.seed, list, f.suffix, q, got, ids)
		}
	}
	if grouped.Count != plain.Count {
		a.T.Errorf("seed %d: %s?%s has %d records in groups by %s, want %d", a.seed, list, query, grouped.Count,
			group, plain.Count)
	}
}

// counts compares the counts of a list and its facets with the records on its pages and under other filters. It
// returns the count.
func (a *agreement) counts(list, query string) int {
	l := getList(a.Site, list+".json?facets=type,oa&"+query)
	whole := idsOf(getList(a.Site, list+".json?limit=500&"+without(query, params.Page, params.Limit)))
	from := min((l.Page-1)*l.Limit, len(whole))
	if want := whole[from:min(from+l.Limit, len(whole))]; !slices.Equal(idsOf(l), want) && len(want)+
		len(l.Items) > 0 || len(whole) != min(l.Count, 500) || l.Pages != max((l.Count+l.Limit-1)/l.Limit, 1) {
		a.T.Errorf("seed %d: page %d of %d of %s?%s has %v, want %v of %d", a.seed, l.Page, l.Pages, list, query,
			idsOf(l), want, l.Count)
	}
	for name, values := range l.Facets {
		for _, v := range values[:min(3, len(values))] {
			one := list + ".json?" + without(query, params.And(name), params.Page)
			if !v.Fixed {
				one += "&" + params.And(name) + "=" + escape(v.Value)
			}
			if got := getList(a.Site, one).Count; got != v.Count {
				a.T.Errorf("seed %d: %s has %d records, its facet says %d", a.seed, one, got, v.Count)
			}
		}
	}
	name := params.Filters()[a.r.IntN(len(params.Filters()))]
	value := name + "=" + a.values[name][a.r.IntN(len(a.values[name]))]
	rest := list + ".json?" + without(query, name, params.Not(name))
	with, others, n := getList(a.Site, rest+"&"+value).Count, getList(a.Site,
		rest+"&not."+value).Count, getList(a.Site, rest).Count
	if with+others != n {
		a.T.Errorf("seed %d: of %d records of %s %d are with %s and %d without", a.seed, n, rest, with, value, others)
	}
	return l.Count
}

// TestFormatsAgree: for any combination of parameters all formats have the same records in the same order, pages and
// facets count them, a filter and its opposite divide them, and nothing hidden appears. A view in the store gives the
// same answers as one in memory. VITRINE_TEST_COMBINATIONS says how many combinations to try at least: it goes on
// until a quarter of as many had records, because what few or no records have in common shows little.
func TestFormatsAgree(t *testing.T) {
	combinations, stored := 80, 30
	if testing.Short() {
		combinations, stored = 60, 5
	}
	if n, err := strconv.Atoi(os.Getenv("VITRINE_TEST_COMBINATIONS")); err == nil {
		combinations = n
	}
	a, filled, answers := newAgreement(t), 0, map[string]string{}
	lists := []string{
		"/lists/activities", "/lists/activities", "/lists/projects", "/lists/events", "/lists/unit/MOTH",
		"/lists/unit/HINS",
		"/lists/person/ekoyyild", "/lists/project/NIGHT-LIBRARY", "/lists/topic/T90015",
	}
	for n := 0; (n < combinations || filled < combinations/4) && !t.Failed(); n++ {
		if n == 20*combinations {
			t.Fatalf("seed %d: only %d of %d lists have records", a.seed, filled, n)
		}
		list := lists[a.r.IntN(len(lists))]
		query, group := a.question()
		a.formats(list, query, group)
		filled += min(a.counts(list, query), 1)
		if target := list + ".json?facets=year,oa&" + query; n < stored {
			answers[target] = a.body(target)
		}
	}
	for _, target := range dividedLists() {
		answers[target] = a.body(target)
	}
	proxytest.InStore(t, map[string]func(*testing.T){"store": func(t *testing.T) {
		there := proxytest.OpenLists(t, withOthers(t))
		for target, want := range answers {
			if got := string(there.Get(target).Body); got != want {
				t.Errorf("seed %d: %s differs in the store:\n%s\n%s", a.seed, target, got, want)
			}
		}
	}})
}

// dividedLists returns lists in each grouping and order, and with choices in which facets are counted. A store
// divides, sorts and counts them by other queries than memory.
func dividedLists() (targets []string) {
	groups := []string{
		"none", "year", "type", "subtype", "unit", "person", "project", "keyword", "year,type", "type,year",
		"type,subtype", "unit,person", "person,type", "project,unit", "year,person",
	}
	choices := []string{
		"q=moth", "and.type=publication&and.year=2015..&and.q=of", "and.unit=MOTH",
		"and.not.type=publication&and.person=ssandman",
		"and.ids=nix,shown-1&and.type=publication", "deep=1&and.unit=MOTH&and.year=missing,2023&chart=1",
	}
	facets := []string{"year,type", "unit,person,topic", "type,unit,project,oa,subtype"}
	for _, group := range groups {
		for _, order := range []string{"year", "-year", "title", "-author", "added", "type", "-type", "relevance"} {
			n := len(targets)
			by := "group=" + group + "&sort=" + order
			targets = append(targets, fmt.Sprintf("/lists/activities.json?q=moth&%s&limit=4&page=%d&facets=%s",
				by, 1+n%2, facets[n%3]))
			if order != "relevance" {
				view := []string{"activities", "projects", "events"}[n%3]
				targets = append(targets, fmt.Sprintf("/lists/%s.json?%s&%s&limit=%d&page=%d&facets=%s",
					view, choices[n%len(choices)], by, 3+n%40, 1+n%4, facets[(n+1)%3]))
				targets = append(targets, fmt.Sprintf("/lists/activities?%s&limit=30&jump=1&page=%d&%s",
					by, 1+n%4, choices[(n+1)%len(choices)]))
			}
		}
	}
	return targets
}
