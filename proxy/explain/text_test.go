package explain_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"vitrine/proxy/explain"
)

// milliseconds matches what differs between two explanations of the same request.
var milliseconds = regexp.MustCompile(`(?m)in [\d.]+ ms$| +[\d.]+$`)

// TestText: the operator's listener answers with the text of the explanation where text is preferred, and with JSON
// otherwise. An error is the same in both forms.
func TestText(t *testing.T) {
	x := newExplaining(t)
	target := "/admin/explain?id=none&url=" + url.QueryEscape(`/api/activities?json={"year":{"$gt":2000}}`)
	var e explain.Explanation
	if err := json.Unmarshal(x.Admin(http.MethodGet, target, "Accept", "*/*").Body, &e); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	if err := e.WriteText(&want); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(want.String(), "in the answer: no — ") || !strings.Contains(want.String(), "\nCLAUSE ") {
		t.Errorf("the text is\n%s", want.String())
	}
	res := x.Admin(http.MethodGet, target, "Accept", "text/plain")
	if kind := res.Header.Get("Content-Type"); kind != "text/plain; charset=utf-8" ||
		milliseconds.ReplaceAllString(string(res.Body), "") != milliseconds.ReplaceAllString(want.String(), "") {
		t.Errorf("%s\n%s\nwant\n%s", kind, res.Body, want.String())
	}
	for _, accept := range []string{"text/plain", "application/json"} {
		res := x.Admin(http.MethodGet, "/admin/explain?url=/api/activitis", "Accept", accept)
		if res.StatusCode != http.StatusNotFound || !json.Valid(res.Body) {
			t.Errorf("%s: %d %s", accept, res.StatusCode, res.Body)
		}
	}
}
