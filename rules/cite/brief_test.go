package cite_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"vitrine/rules/cite"
	"vitrine/rules/person"
)

// TestBrief: a brief item has the first persons and keywords and the beginnings of long texts, and says that there
// are others. The item itself stays as it is.
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
		t.Errorf("%d keywords, %d projects, address %.40s, DOI %s", len(short.Keywords), len(short.Projects),
			short.URL,
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

// unbounded are the texts of items that Brief leaves as they are: codes, and what marks and profiles bound.
var unbounded = []string{
	".ID", ".Key", ".View", ".Type", ".Subtype", ".Forms.CSL", ".Forms.BibTeX", ".Forms.RIS", ".Forms.Schema",
	".Forms.OpenURL", ".OA", ".Notices.Code", ".Authors.User", ".Authors.ORCID", ".Editors.User", ".Editors.ORCID",
	".Supervisors.User", ".Supervisors.ORCID", ".Projects.ID", ".Projects.Title", ".Projects.Funder",
	".Projects.Grant", ".User", ".ORCID", ".Units.ID", ".Units.Name", ".Units.NameDE", ".Profile.AcademicTitle",
	".Profile.Position", ".Profile.PositionDE", ".Profile.Photo", ".Profile.Mail", ".Profile.Phone", ".Profile.Room",
	".Profile.Links.Href",
}

// TestBriefBounds: Brief bounds every text and every list of an item, each alone and all together.
func TestBriefBounds(t *testing.T) {
	const many, most = 60, 50
	long := strings.Repeat("x", 20_000)
	// visit calls use for each text and each list of an exported field. With fill it makes lists of many elements.
	var visit func(v reflect.Value, path string, fill bool, use func(path string, v reflect.Value))
	visit = func(v reflect.Value, path string, fill bool, use func(path string, v reflect.Value)) {
		switch v.Kind() {
		case reflect.String:
			use(path, v)
		case reflect.Slice:
			if fill {
				v.Set(reflect.MakeSlice(v.Type(), many, many))
			}
			use(path, v)
			for i := range v.Len() {
				visit(v.Index(i), path, fill, use)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				switch f := v.Type().Field(i); {
				case f.Anonymous:
					visit(v.Field(i), path, fill, use)
				case f.IsExported():
					visit(v.Field(i), path+"."+f.Name, fill, use)
				}
			}
		}
	}
	check := func(it *cite.Item, what string) {
		visit(reflect.ValueOf(it.Brief(most)).Elem(), "", false, func(path string, v reflect.Value) {
			if v.Kind() == reflect.Slice && v.Len() > most {
				t.Errorf("%s: %d of %s", what, v.Len(), path)
			} else if v.Kind() == reflect.String && v.Len() > 10_010 && !slices.Contains(unbounded, path) {
				t.Errorf("%s: %d bytes of %s", what, v.Len(), path)
			}
		})
	}
	var paths []string
	all := &cite.Item{}
	visit(reflect.ValueOf(all).Elem(), "", true, func(path string, v reflect.Value) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
		if v.Kind() == reflect.String {
			v.SetString(long)
		}
	})
	check(all, "all")
	for _, only := range paths {
		one := &cite.Item{}
		visit(reflect.ValueOf(one).Elem(), "", true, func(path string, v reflect.Value) {
			if v.Kind() == reflect.String && path == only {
				v.SetString(long)
			} else if v.Kind() == reflect.Slice && path != only {
				v.Set(v.Slice(0, 1))
			}
		})
		check(one, only)
	}
	for _, path := range unbounded {
		if !slices.Contains(paths, path) {
			t.Errorf("items have no text %s", path)
		}
	}
}
