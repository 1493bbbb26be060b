package openapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"

	"vitrine/proxy/openapi"
)

// TestPageTellsEverything: the page shows everything that the document describes.
func TestPageTellsEverything(t *testing.T) {
	d := load()
	var doc struct {
		Tags  []struct{ Name string }
		Paths map[string]struct {
			Get struct {
				Summary     string
				OperationID string
				Parameters  []struct {
					Name string
					Ref  string `json:"$ref"`
				}
				Responses map[string]any
			}
		}
		Components struct {
			Parameters map[string]struct{ Name string }
		}
	}
	if err := json.Unmarshal(d.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	text := string(d.Page)
	wants := func(place, what string) {
		if !strings.Contains(text, what) {
			t.Errorf("%s: the page lacks %s", place, what)
		}
	}
	for _, tag := range doc.Tags {
		wants("tags", "<h2>"+tag.Name+"</h2>")
	}
	for path, item := range doc.Paths {
		wants(path, `<article id="`+item.Get.OperationID+`" data-path="`+path+`">`)
		wants(path, `<p class="summary">`+html.EscapeString(item.Get.Summary)+`</p>`)
		for _, p := range item.Get.Parameters {
			name := p.Name
			if p.Ref != "" {
				name = doc.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]].Name
			}
			wants(path, `<label for="`+item.Get.OperationID+"-"+name+`">`)
		}
	}
}

// TestPolicyNamesStyleAndScript: the policy has the hashes of the page's style and script.
func TestPolicyNamesStyleAndScript(t *testing.T) {
	d := load()
	for _, element := range []string{"style", "script"} {
		all := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllSubmatch(d.Page, -1)
		if len(all) != 1 {
			t.Fatalf("%d elements %s", len(all), element)
		}
		sum := sha256.Sum256(all[0][1])
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'"; !strings.Contains(d.Policy, want) {
			t.Errorf("the policy lacks %s: %s", want, d.Policy)
		}
	}
}

// TestSamePage: the page has the same bytes each time it is built.
func TestSamePage(t *testing.T) {
	first, second := openapi.Load(), openapi.Load()
	if string(first.JSON) != string(second.JSON) || string(first.JSON30) != string(second.JSON30) {
		t.Error("two runs made different documents")
	}
	if string(first.Page) != string(second.Page) {
		t.Error("two runs made different pages")
	}
}
