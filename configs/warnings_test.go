package configs

import (
	"slices"
	"strings"
	"testing"
)

// TestHostsAreMissed: a configuration warns if clients may use a host that is not in it.
func TestHostsAreMissed(t *testing.T) {
	for _, tt := range []struct {
		listen string
		lists  Lists
		warns  bool
	}{
		{":8080", Lists{Enabled: true}, true},
		{"192.0.2.1:8080", Lists{Enabled: true}, true},
		{"127.0.0.1:8080", Lists{Enabled: true}, false},
		{":8080", Lists{}, false},
		{":8080", Lists{Enabled: true, Hosts: []string{"www.example"}}, false},
		{":8080", Lists{Enabled: true, BaseURL: "https://www.example"}, false},
	} {
		all := Config{Listen: tt.listen, Lists: tt.lists}.Warnings()
		if got := slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, "lists.base_url") }); got != tt.warns {
			t.Errorf("%+v: %q", tt, all)
		}
	}
}
