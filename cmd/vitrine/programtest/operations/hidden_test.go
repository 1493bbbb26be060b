package operations

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/cache/view/snapfile"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/configs"
	"vitrine/proxy/auth"
)

// secretMail is the mail address in hidden fields of secretRecords.
const secretMail = "sesam@hidden.example"

// secretRecords have a secret under each name that the program hides by default.
func secretRecords() (persons, activities string) {
	var fields []string
	for _, name := range configs.Default().Access.HiddenFields {
		fields = append(fields, `"`+strings.ReplaceAll(name, "*", "x")+`":"`+secretMail+`"`)
	}
	secret := strings.Join(fields, ",")
	return `{"_id":"p1","username":"ada","first":"Ada","last":"Moth","roles":["admin"],"units":[{"unit":"SOIL",` +
			secret + `}],` + secret + `}` + "\n",
		`{"_id":"a1","type":"publication","subtype":"article","title":"Moths","year":2024,"authors":[{"user":"ada",` +
			`"last":"Moth",` + secret + `}],` + secret + `}` + "\n"
}

// TestHiddenByDefault: without any settings no answer, no citation whose rule names them, and no
// snapshot file has the mail and phone of a person; an admin and the operator's commands see them.
func TestHiddenByDefault(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	persons, activities := secretRecords()
	write("persons.jsonl", persons)
	write("activities.jsonl", activities)
	_, src := configs.RenderRules()
	rules := write("rules.yaml", strings.NewReplacer("\nfields:\n", "\nfields:\n  mail: text\n  phone: text\n",
		"{authors} ({year})", "{authors} {mail} {phone} ({year})",
		"{authors:linked}", "{authors:linked} {mail}").Replace(string(src)))
	secret := strings.Repeat("k", 32)
	config := write("v.yml", "store: bolt://v.db\nrules: {file: "+rules+
		"}\nviews: {snapshot: snapshots, optional: [deadlines, projects, proposals, journals, events, spectrum]}\n"+
		"auth: {session: {jwt_secret: "+secret+"}}\n")
	programtest.Run(t, dir, "import", "--config", config, "persons.jsonl", "activities.jsonl")
	programtest.Run(t, dir, "materialize", "--config", config)
	for _, name := range []string{"persons", "activities"} {
		if out := programtest.Run(t, dir, "query", "--config", config, "--view", name); !strings.Contains(out,
			secretMail) {
			t.Errorf("the operator does not see hidden fields of %s: %s", name, out)
		}
	}
	const citations = `"print":"Moth ` // the beginning of the rule's citations
	if out := programtest.Run(t, dir, "query", "--config", config); strings.Contains(out, citations+secretMail) ||
		!strings.Contains(out, citations) {
		t.Errorf("a rule shows a hidden field: %s", out)
	}
	s := programtest.Start(t, dir, "--config", config).Ready()
	token, err := auth.MintToken("ada", []byte(secret), auth.SessionOptions{}, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/api/users/ada", "/api/user-units/ada", "/api/activities?full=1",
		"/api/activities?columns=authors.mail", "/api/activities", "/api/all-activities", "/api/html"} {
		_, anonymous := s.Get(target)
		_, admin := s.Get(target, "Authorization", "Bearer "+token)
		if strings.Contains(anonymous, secretMail) {
			t.Errorf("%s: answer to any caller: %s", target, anonymous)
		}
		if rendered := strings.HasPrefix(target, "/api/activities?") ||
			strings.HasPrefix(target, "/api/user"); strings.Contains(admin, secretMail) != rendered {
			t.Errorf("%s: answer to an admin: %s", target, admin)
		}
	}
	for _, name := range configs.Default().Access.HiddenFields {
		filter := `{"` + strings.ReplaceAll(name, "*", "x") + `":{"$exists":true}}`
		if _, answer := s.Get("/api/search/persons?json=" + url.QueryEscape(filter)); !strings.Contains(answer,
			"fields.hidden") {
			t.Errorf("a filter on %s: %s", name, answer)
		}
	}
	s.Stop()
	for _, name := range []string{"persons", "activities"} {
		_, rows, err := snapfile.Read(snapfile.Path(filepath.Join(dir, "snapshots"), name))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if strings.Contains(string(row), secretMail) {
				t.Errorf("the snapshot file of %s has hidden fields", name)
			}
		}
	}
	open := write("open.yml", "store: bolt://v.db\nrules: {file: "+rules+"}\naccess: {hidden_fields: []}\n")
	programtest.Run(t, dir, "materialize", "--config", open)
	if out := programtest.Run(t, dir, "query", "--config", open); !strings.Contains(out, citations+secretMail) {
		t.Errorf("the rule does not show a field that is not hidden: %s", out)
	}
}
