package lists_test

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestNumberAndStatus: JSON and CSV have the number of a report, a patent or an article, and the status of a work
// that has not appeared yet.
func TestNumberAndStatus(t *testing.T) {
	const work = `"type": "publication", "title": "Zyx moths", "year": 2021, `
	s := withRecords(t, map[string][]string{"activities": {
		`{"_id": "report", ` + work + `"subtype": "report", "report_number": "TR-2021/7"}`,
		`{"_id": "patent", ` + work + `"subtype": "patent", "patent_number": "EP 1 234 567 B1"}`,
		`{"_id": "article", ` + work + `"subtype": "article", "article_number": "e0123456", "pages": "1-9"}`,
		`{"_id": "pageless", ` + work + `"subtype": "article", "article-number": 104512, "status": "in press"}`,
		`{"_id": "plain", ` + work + `"subtype": "article", "pages": "1-9", "issue": 3}`,
	}})
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal(s.Get("/lists/activities.json?q=zyx").Body, &list); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(string(s.Get("/lists/activities.csv?q=zyx").Body))).ReadAll()
	if err != nil || len(table) != 6 || len(list.Items) != 5 {
		t.Fatalf("%d items, %d rows, %v", len(list.Items), len(table), err)
	}
	number := slices.Index(table[0], "number") // the status follows
	if number < 0 || table[0][number+1] != "status" {
		t.Fatalf("the columns are %q", table[0])
	}
	want := map[string][2]any{
		"report": {"TR-2021/7", nil}, "patent": {"EP 1 234 567 B1", nil}, "article": {"e0123456", nil},
		"pageless": {"104512", "in press"}, "plain": {nil, nil},
	}
	for _, it := range list.Items {
		if got := [2]any{it["number"], it["status"]}; got != want[it["id"].(string)] {
			t.Errorf("%s has %v", it["id"], got)
		}
	}
	for _, row := range table[1:] {
		for i, value := range want[row[0]] {
			if got := row[number+i]; value == nil && got != "" || value != nil && got != value {
				t.Errorf("the table's %s has %q, want %v", row[0], got, value)
			}
		}
	}
}

// TestNumberAndStatusOnPage: the page of an item has them, too, the status in the language of the page.
func TestNumberAndStatusOnPage(t *testing.T) {
	const work = `"type": "publication", "title": "Zyx moths", "year": 2021, `
	s := withRecords(t, map[string][]string{"activities": {
		`{"_id": "report", ` + work + `"subtype": "report", "report_number": "TR-2021/7"}`,
		`{"_id": "patent", ` + work +
			`"subtype": "patent", "patent_number": "EP 1 234 567 B1", "status": "submitted"}`,
		`{"_id": "article", ` + work +
			`"subtype": "article", "article_number": "e012", "pages": "1-9", "epub": true}`,
		`{"_id": "pageless", ` + work + `"subtype": "article", "article-number": 104512, "status": "in press"}`,
		`{"_id": "ahead", ` + work + `"subtype": "article", "epub": true}`,
		`{"_id": "plain", ` + work + `"subtype": "article", "pages": "1-9", "issue": 3, "status": "published"}`,
	}})
	for _, tt := range []struct{ id, lang, number, pages, status string }{
		{"report", "en", "TR-2021/7", "", ""},
		{"patent", "en", "EP 1 234 567 B1", "", "submitted"},
		{"patent", "de", "EP 1 234 567 B1", "", "eingereicht"},
		{"article", "en", "e012", "1–9", ""},
		{"pageless", "en", "", "104512", "in press"}, // the number stands for the pages
		{"pageless", "de", "", "104512", "im Druck"},
		{"ahead", "en", "", "", "advance online publication"},
		{"plain", "de", "", "1–9", ""},
	} {
		page := string(s.Get("/items/"+tt.id+"?lang="+tt.lang, "Accept", "text/html").Body)
		names := [3]string{"Number", "Pages", "Status"}
		if tt.lang == "de" {
			names = [3]string{"Nummer", "Seiten", "Status"}
		}
		for i, want := range []string{tt.number, tt.pages, tt.status} {
			_, row, _ := strings.Cut(page, "<dt>"+names[i]+"</dt><dd dir=\"auto\">")
			if got, _, _ := strings.Cut(row, "<"); got != want {
				t.Errorf("%s in %s: %s is %q, want %q", tt.id, tt.lang, names[i], got, want)
			}
		}
	}
}
