package render_test

import (
	"testing"

	"vitrine/configs"
	"vitrine/rules/label"
	"vitrine/rules/render"
)

// TestLabelsOrder: types and subtypes come in the order of the rules file; those of a database come first, in its
// order.
func TestLabelsOrder(t *testing.T) {
	base := defaultRules(t)
	overlaid, _ := base.WithOsiris(render.Osiris{
		Categories: []render.OsirisCategory{{ID: "outreach", Order: 2}, {ID: "lecture", Order: 1},
			{ID: "award", Order: 1}},
		Types: []render.OsirisType{{ID: "talk", Parent: "outreach"},
			{ID: "thesis", Parent: "publication", Order: -1}},
	})
	for _, tt := range []struct {
		rules *render.Rules
		set   string
		codes []string
	}{
		{base, label.ActivityType, []string{"publication", "lecture", "poster", "software"}},
		{base, label.ActivitySubtype, []string{"publication/article", "publication/preprint", "publication/thesis",
			"lecture/lecture", "poster/poster"}},
		{overlaid, label.ActivityType, []string{"lecture", "award", "outreach", "publication", "poster"}},
		{overlaid, label.ActivitySubtype,
			[]string{"lecture/lecture", "outreach/talk", "publication/thesis", "publication/article",
				"poster/poster"}},
	} {
		labels, last := tt.rules.Labels(), 0
		for _, code := range append(tt.codes, "unheard") {
			rank := labels.Rank(tt.set, code)
			if rank <= last {
				t.Errorf("%s: %s has the rank %d after %d", tt.set, code, rank, last)
			}
			last = rank
		}
	}
}

func TestLabels(t *testing.T) {
	r, err := render.Parse(configs.RenderRules())
	if err != nil {
		t.Fatal(err)
	}
	labels := r.Labels()
	tests := []struct{ set, code, lang, want string }{
		{label.ActivityType, "lecture", "de", "Vorträge"},
		{label.ActivityType, "lecture", "en", "Lectures"},
		{label.ActivitySubtype, "lecture/lecture", "de", "Vortrag"},
		{label.ActivitySubtype, "lecture/unheard", "de", "lecture/unheard"},
	}
	for _, tt := range tests {
		if got := labels.Label(tt.set, tt.code, tt.lang); got != tt.want {
			t.Errorf("%s %s in %s = %q, want %q", tt.set, tt.code, tt.lang, got, tt.want)
		}
	}
}
