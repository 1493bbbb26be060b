package configs_test

import (
	"bytes"
	"testing"

	"vitrine/configs"
	"vitrine/rules/label"
)

func TestLabelSets(t *testing.T) {
	name, src := configs.LabelSets()
	sets, err := label.Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ set, code, en, de string }{
		{label.ProjectType, "third-party", "Third-party funded", "Drittmittelprojekt"},
		{label.ProjectStatus, "ongoing", "Ongoing", "Laufend"},
		{label.Text, "Unit not found", "Unit not found", "Einheit nicht gefunden"},
	} {
		if got := sets.Label(tt.set, tt.code, "en"); got != tt.en {
			t.Errorf("%s %s: got %q, want %q", tt.set, tt.code, got, tt.en)
		}
		if got := sets.Label(tt.set, tt.code, "de"); got != tt.de {
			t.Errorf("%s %s: got %q, want %q", tt.set, tt.code, got, tt.de)
		}
	}
	src[0] = 'x'
	if _, again := configs.LabelSets(); bytes.Equal(src, again) {
		t.Error("the copy shares its bytes with the original")
	}
}
