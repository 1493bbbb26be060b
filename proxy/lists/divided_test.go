package lists_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/proxytest"
)

// TestDividedBeyondBounds: a view in the store gives the answers of one in memory, too, if a list has more
// combinations of values than are counted, or parts with more entries than are read together.
func TestDividedBeyondBounds(t *testing.T) {
	proxytest.WholeOnly(t)
	for name, c := range map[string]struct {
		records func() []string
		groups  []string
		pages   []string
		least   int // entries of the first grouping
	}{
		"combinations": { // 150 persons in 150 projects, which are more than 20,000
			records: func() (all []string) {
				var authors, projects []string
				for i := range 150 {
					authors = append(authors, fmt.Sprintf(`{"first":"A","last":"Name%d","user":"user%d"}`, i, i))
					projects = append(projects, fmt.Sprintf(`"P%d"`, i))
				}
				for i := range 3 { // the others have few
					all = append(all, activity(i, strings.Join(authors, ","), strings.Join(projects, ",")))
					authors, projects = authors[:2], projects[:2]
				}
				return all
			},
			groups: []string{"person,project", "project", "person,year"},
			pages:  []string{"limit=3&page=1", "limit=50&page=3"},
			least:  20_001,
		},
		"entries": { // the parts of two types have more than 500
			records: func() (all []string) {
				for i := range 1300 {
					all = append(all, activity(i, fmt.Sprintf(`{"first":"A","last":"Name%d"}`, i%7), `"P1"`))
				}
				return all
			},
			groups: []string{"none", "type", "type,year", "project"},
			pages: []string{
				"limit=7&page=1", "limit=100&page=6", "limit=500&page=2", "limit=500&page=3", "limit=500&page=9",
			},
			least: 1001,
		},
	} {
		t.Run(name, func(t *testing.T) {
			records := c.records()
			open := func(t *testing.T) *proxytest.Site {
				return proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
					for i := range 150 { // marks name only persons and projects of the directory
						switch collection {
						case "persons":
							docs = append(docs, proxytest.Parse(t, fmt.Sprintf(
								`{"_id":"made-%d","username":"user%d","first":"A","last":"Name%d","is_active":true}`,
								i, i, i))...)
						case "projects":
							docs = append(docs, proxytest.Parse(t, fmt.Sprintf(
								`{"_id":"made-%d","name":"P%d","title":"Project %d","status":"approved",`+
									`"public":true}`, i, i, i))...)
						}
					}
					if collection == "activities" {
						return proxytest.Parse(t, records...)
					}
					return docs
				})
			}
			answers, memory := map[string]string{}, open(t)
			for i, group := range c.groups {
				for _, page := range c.pages {
					order := []string{"year", "-title", "type", "-added"}[(i+len(page))%4]
					target := fmt.Sprintf("/lists/activities.json?group=%s&sort=%s&%s&facets=project,type",
						group, order, page)
					l := getList(memory, target)
					if entries := l.Pages * l.Limit; i == 0 && entries < c.least {
						t.Errorf("%s has %d entries, want at least %d", target, entries, c.least)
					}
					answers[target] = string(memory.Get(target).Body)
				}
			}
			proxytest.InStore(t, map[string]func(*testing.T){"store": func(t *testing.T) {
				there := open(t)
				for target, want := range answers {
					if got := string(there.Get(target).Body); got != want {
						t.Errorf("%s differs in the store:\n%.2000s\n%.2000s", target, got, want)
					}
				}
			}})
		})
	}
}

// activity returns a record, of which each 13th has no year and no title.
func activity(i int, authors, projects string) string {
	dated := fmt.Sprintf(`"title":"Title %d","year":%d,`, i%400, 2020+i%3)
	if i%13 == 12 {
		dated = ""
	}
	kind := []string{"publication", "publication", "poster"}[i%3]
	return fmt.Sprintf(`{"_id":"made-%d","type":"%s",%s"month":%d,"authors":[%s],"projects":[%s]}`,
		i, kind, dated, 1+i%12, authors, projects)
}
