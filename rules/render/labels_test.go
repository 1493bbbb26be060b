package render_test

import (
	"testing"

	"vitrine/configs"
	"vitrine/rules/label"
	"vitrine/rules/render"
)

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
