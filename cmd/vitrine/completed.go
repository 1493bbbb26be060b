package main

import (
	"log/slog"
	"maps"
	"sync"

	"vitrine/configs"
	"vitrine/rules/osiris"
)

// presetOsiris is the preset of databases that describe themselves.
const presetOsiris = "osiris"

// completed returns a configuration with what the database says wherever the
// configuration says nothing. Of rights and visibility that holds role by role and type
// by type. sealed stands for keys that nobody may know.
func completed(cfg configs.Config, said osiris.Settings, sealed string) configs.Config {
	if said.StartYear != 0 && !cfg.Given("start_year") {
		cfg.StartYear = said.StartYear
	}
	if said.Language != "" && !cfg.Given("language") {
		cfg.Language = said.Language
	}
	if said.Portfolio != nil && !cfg.Given("portfolio.enabled") {
		cfg.Portfolio.Enabled = *said.Portfolio
	}
	if !cfg.Given("auth.api_key") {
		cfg.Auth.APIKey = secretOf(said.APIKey, sealed)
	}
	if !cfg.Given("auth.portfolio_key") {
		cfg.Auth.PortfolioKey = secretOf(said.PortfolioKey, sealed)
	}
	cfg.Access.Roles = maps.Clone(cfg.Access.Roles)
	for role, rights := range said.Roles {
		if !cfg.Given("access.roles." + role) {
			setEntry(&cfg.Access.Roles, role, namesOf(rights))
		}
	}
	cfg.Access.Types = maps.Clone(cfg.Access.Types)
	for kind, roles := range said.Visible {
		if !cfg.Given("access.types." + kind) {
			setEntry(&cfg.Access.Types, kind, roles)
		}
	}
	return cfg
}

func secretOf(key osiris.Key, sealed string) configs.Secret {
	if key.Sealed {
		return configs.Secret(sealed)
	}
	return configs.Secret(key.Text)
}

func setEntry(m *map[string][]string, key string, value []string) {
	if *m == nil {
		*m = map[string][]string{}
	}
	(*m)[key] = value
}

func namesOf[T ~string](values []T) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

// warnings tells each warning once, and again after it has been away.
type warnings struct {
	mu   sync.Mutex                         // guards told
	told map[string]map[osiris.Warning]bool // by what they are about
}

func (w *warnings) tell(log *slog.Logger, about string, now []osiris.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := make(map[osiris.Warning]bool, len(now))
	for _, warning := range now {
		known := fresh[warning]
		for _, told := range w.told {
			known = known || told[warning]
		}
		if fresh[warning] = true; !known {
			log.Warn("settings of the database: passed over",
				"collection", warning.Collection, "id", warning.ID, "reason", warning.Reason)
		}
	}
	if w.told == nil {
		w.told = map[string]map[osiris.Warning]bool{}
	}
	w.told[about] = fresh
}
