package osiris

import (
	"slices"
	"strconv"

	"vitrine/rules/access"
	"vitrine/rules/raw"
)

// general reads single settings: {key, value}. If a key comes twice, the first record counts, as in
// OSIRIS. Other keys are OSIRIS's own and raise no warning.
func (r *reader) general() {
	s := &r.settings
	known := map[string]func(record){
		"startyear":        func(rec record) { s.StartYear = startYear(rec) },
		"apikey":           func(rec record) { s.APIKey = apiKey(rec) },
		"portfolio_apikey": func(rec record) { s.PortfolioKey = apiKey(rec) },
		"render_language":  func(rec record) { s.Language = language(rec) },
		visibilityKey:      func(rec record) { s.Portal.Visibility = visibility(rec) },
	}
	seen := map[string]bool{}
	for rec := range r.records(General) {
		key := rec.text("key")
		set, ok := known[key]
		switch {
		case key == "":
			rec.warn("key is missing")
		case !ok: // a setting of OSIRIS that Vitrine does not use
		case seen[key]:
			rec.warn("%s is given twice", key)
		default:
			seen[key] = true
			set(rec)
		}
	}
}

// startYear reads a year. It returns 0 if there is none. A number may be stored as text.
func startYear(rec record) int {
	text, ok := textOf(rec.doc.Lookup("value"))
	if ok && text == "" {
		return 0
	}
	year, err := strconv.Atoi(text)
	if err != nil || year < 1 || year > 9999 {
		rec.warn("startyear is not a year")
		return 0
	}
	return year
}

// language reads one of the two languages of rendering. It returns "" if there is none. An empty
// value means that the database does not say.
func language(rec record) string {
	switch lang := rec.text("value"); lang {
	case "", "en", "de":
		return lang
	default:
		rec.warn("render_language is %q, want en or de", lang)
		return ""
	}
}

// APIKey is an API key. If Text is empty and Sealed is not set, callers need no key. Sealed keeps a
// mistake in the database from opening the API.
type APIKey struct {
	Text   string
	Sealed bool // cannot be a key, though one was meant: every caller is refused
}

// apiKey reads a key unchanged: unlike other text it may begin or end with spaces. A number is the
// text of its digits, as a form may have stored it.
func apiKey(rec record) APIKey {
	v := rec.doc.Lookup("value")
	if s, ok := v.StringValueOK(); ok {
		return APIKey{Text: s}
	}
	s, ok := textOf(v)
	if !ok {
		rec.warn("%s is not text: calls are refused until it is", rec.text("key"))
	}
	return APIKey{Text: s, Sealed: !ok}
}

// features reads {feature, enabled}. The first record that says something about a feature counts. A
// value that is unclear is as if missing, except where the feature hides: then it is on.
func (r *reader) features() {
	s := &r.settings
	known := map[string]**bool{"portfolio-spectrum": &s.Portfolio, workflowFeature: &s.Portal.Workflow}
	for rec := range r.records(Features) {
		feature := rec.text("feature")
		enabled := known[feature]
		if enabled == nil || *enabled != nil {
			continue
		}
		on, set := rec.flag("enabled")
		if unclear := raw.FlagOf(raw.Get(rec.doc, "enabled")) == raw.FlagUnclear; unclear &&
			enabled == &s.Portal.Workflow {
			on, set = true, true // the feature hides
		}
		if set {
			*enabled = &on
		}
	}
}

// rights reads {role, right, value}. A role with a record has only the known rights whose value is
// true. Rights that Vitrine does not know, and those with another value, still make the role known,
// without permissions.
func (r *reader) rights() {
	r.settings.Roles = map[string][]access.Permission{}
	for rec := range r.records(Rights) {
		role, right := rec.text("role"), rec.text("right")
		if role == "" || right == "" {
			rec.warn("role or right is missing")
			continue
		}
		p := access.Permission(right)
		on, _ := rec.flag("value")
		has := r.settings.Roles[role]
		if on && slices.Contains(access.Permissions(), p) && !slices.Contains(has, p) {
			has = append(has, p)
		}
		r.settings.Roles[role] = has
	}
}
