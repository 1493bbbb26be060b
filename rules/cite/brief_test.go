package cite_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"vitrine/rules/cite"
	"vitrine/rules/person"
)

// TestBrief: a brief item has the first persons and keywords and the beginnings of long texts, and says that there are
// others. The item itself stays as it is.
func TestBrief(t *testing.T) {
	small := &cite.Item{Text: "Owls", Authors: make([]cite.Person, 50), Keywords: make([]string, 50)}
	if small.Brief(50) != small {
		t.Error("an item within the bounds is copied")
	}
	long := strings.Repeat("ö", 500_000)
	it := &cite.Item{
		Text: long, Title: "<i>" + long + "</i>", URL: "https://example.org/" + long, DOI: "10.5555/x",
		Keywords: append(make([]string, 60), long), Projects: make([]cite.Project, 60),
	}
	for range 51 {
		it.Authors = append(it.Authors, cite.Person{Person: person.Person{Family: long, Given: "Ada"}})
	}
	it.Editors = it.Authors[:50]
	short := it.Brief(50)
	if len(short.Authors) != 50 || !short.MoreAuthors || len(short.Editors) != 50 || short.MoreEditors {
		t.Errorf("%d authors, more: %v; %d editors, more: %v",
			len(short.Authors), short.MoreAuthors, len(short.Editors), short.MoreEditors)
	}
	if len(short.Keywords) != 50 || len(short.Projects) != 50 || short.URL != "" || short.DOI != "10.5555/x" {
		t.Errorf("%d keywords, %d projects, address %.40s, DOI %s", len(short.Keywords), len(short.Projects), short.URL,
			short.DOI)
	}
	for name, text := range map[string]string{
		"text": short.Text, "title": short.Title, "name": short.Authors[0].Family,
	} {
		if len(text) > 10_050 || !utf8.ValidString(text) || !strings.HasSuffix(text, "ö…") && name != "title" {
			t.Errorf("%s: %d bytes, from %.20s", name, len(text), text)
		}
	}
	if !strings.HasPrefix(short.Title, "<i>ö") || !strings.HasSuffix(short.Title, "ö</i>…") {
		t.Errorf("the title ends with %q", short.Title[len(short.Title)-10:])
	}
	if it.Text != long || it.Authors[0].Family != long || len(it.Authors) != 51 || it.MoreAuthors {
		t.Error("the item has changed")
	}
}
