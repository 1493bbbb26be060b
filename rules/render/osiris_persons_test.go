package render_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/render"
)

func TestOsirisPersonStyles(t *testing.T) {
	const doc = `{"authors": [{"first": "Ada B.", "last": "Doe", "aoi": 1}, {"user": "absent"}, {"first": "Jo", "last": "Poe"}, {"last": "Roe & Co"}],
		"editors": [{"first": "Eva", "last": "Ed"}]}`
	for _, tt := range []struct{ style, want string }{
		{"authors-last-f.", "<b>Doe A.B.</b>, Poe J. and Roe &amp; Co"},
		{"authors-last f", "<b>Doe AB</b>, Poe J and Roe &amp; Co"},
		{"authors-last, f.-amp", "<b>Doe, A.B.</b>, Poe, J. &amp; Roe &amp; Co"},
		{"authors-f.-last", "<b>A.B. Doe</b>, J. Poe and Roe &amp; Co"},
		{"authors-first-last", "<b>Ada B. Doe</b>, Jo Poe and Roe &amp; Co"},
		{"authors-last-first-amp+comma", "<b>Doe, Ada B.</b>, Poe, Jo, &amp; Roe &amp; Co"},
		{"authors-last-f-etal1", "<b>Doe AB</b> et al."},
		{"authors-last-f-etal3", "<b>Doe AB</b>, Poe J and Roe &amp; Co"},
		{"authors-f-last-ellipses2", "<b>AB Doe</b> … Roe &amp; Co"},
		{"authors-semicolon-Eds", "<b>Doe A.B.</b>; Poe J. and Roe &amp; Co (Eds.)"},
		{"editors-first-last-amp-ed", "Eva Ed (ed.)"},
		{"authors-f.-last-ed", "<b>A.B. Doe</b>, J. Poe and Roe &amp; Co (eds.)"},
		{"supervisors-last-f.", ""},
	} {
		t.Run(tt.style, func(t *testing.T) {
			got, faults := osirisPrinted(t, render.Osiris{}, "{"+tt.style+"}", doc, "en")
			if got != tt.want || faults != nil {
				t.Errorf("got  %q, faults %q\nwant %q", got, faults, tt.want)
			}
		})
	}
}

// TestOsirisAuthors: rendered.authors has links to the pages of persons and the marks of shared
// positions; citations explain the marks.
func TestOsirisAuthors(t *testing.T) {
	r, _ := defaultRules(t).WithOsiris(render.Osiris{
		Categories: []render.OsirisCategory{{ID: "t"}},
		Types:      []render.OsirisType{{ID: "s", Parent: "t", Print: "{authors}. {title}", Subtitle: "{authors}"}},
		Persons:    map[string]string{"ada": "65a9"},
	})
	rendered := func(authors string) bson.Raw {
		t.Helper()
		doc, err := fresh(r,
			activity(t, `{"_id": 1, "type": "t", "subtype": "s", "title": "T", "authors": [`+authors+`]}`),
			render.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	got := rendered(`{"first": "Eva-Maria", "last": "Doe", "user": "ada", "aoi": true, "position": "first"},
		{"first": "J.-P. B", "last": "Poe", "user": "gone", "aoi": true, "position": "first"},
		{"first": "Jo", "last": "Roe", "position": "corresponding"}, {"first": "Al", "last": "Zoe", "position": "last"}`)
	for key, want := range map[string]string{
		"authors": "<a href='/person/65a9'>Doe,&nbsp;E.-M.</a><sup>#</sup>, Poe,&nbsp;J.-P.B.<sup>#</sup>, Roe,&" +
			"nbsp;J.<sup>§</sup> and Zoe,&nbsp;A.",
		"editors": "",
		"print": "<b>Doe E.-M.</b><sup>#</sup>, <b>Poe J.-P.B.</b><sup>#</sup>, Roe J.<sup>§</sup> and Zoe A. T" +
			"<br><small><sup>#</sup> Shared first authors <sup>§</sup> Corresponding author</small>",
		"web": "<a class='colorless' href='/activities/view/1'>T</a><br><small class='text-muted d-block'>" +
			"<a href='/profile/ada'>Doe E.-M.</a><sup>#</sup>, <a href='/profile/gone'>Poe J.-P.B.</a><sup>#</sup>," +
			" Roe J.<sup>§</sup> and Zoe A.</small>",
	} {
		if got := got.Lookup(key).StringValue(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", key, got, want)
		}
	}
	many := rendered(strings.Repeat(`{"last": "A"}, `, 12) + `{"last": "B"}`)
	if web := many.Lookup("web").StringValue(); !strings.HasSuffix(web, "A, A et al.</small>") ||
		strings.Count(web, "A,") != 11 {
		t.Errorf("web of 13 authors: %s", web)
	}
	if print := many.Lookup("print").StringValue(); !strings.HasSuffix(print, "A and B. T") {
		t.Errorf("print of 13 authors: %s", print)
	}
}
