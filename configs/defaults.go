package configs

import "time"

// Default returns the configuration of a start without any settings.
func Default() Config {
	return Config{
		Store:     "bolt://data/vitrine.db",
		Listen:    "127.0.0.1:8080",
		Timezone:  "UTC",
		Language:  "en",
		StartYear: 1900,

		Admin: Admin{Listen: "127.0.0.1:8081"},
		Auth:  Auth{Session: Session{Cookie: "vitrine_session"}},
		Access: Access{
			Types:     map[string][]string{},
			Anonymous: []string{"portfolio-spectrum"},
			Roles: map[string][]string{
				"admin": {"projects.view", "proposals.view", "portfolio-spectrum"},
			},
		},
		Views: Views{
			Mode: "memory", IndexBudget: 256 * MiB, Poll: 2 * time.Second, SnapshotEvery: time.Minute,
			Optional: []string{"deadlines"}, // there is none in many databases
		},
		Materialize: defaultMaterialize(),
		Mongo: Mongo{
			ConnectTimeout: 10 * time.Second,
			Timeout:        30 * time.Second,
			Pool:           50,
			ReadPreference: "primary",
			Batch:          1000,
		},
		Limits: defaultLimits(),
		Cache:  Cache{Budget: 96 * MiB, MaxEntry: 16 * MiB, Blocks: 96 * MiB},
		Memory: Memory{Garbage: 50, InFlight: 128 * MiB},
		HTTP: HTTP{
			CORS: CORS{MaxAge: 10 * time.Minute},
			CacheControl: CacheControl{
				MaxAge:               time.Minute,
				StaleWhileRevalidate: 10 * time.Minute,
				StaleIfError:         24 * time.Hour,
				Keyed:                "private",
			},
			Compress: Compress{Codings: []string{"zstd", "br", "gzip"}, MinBytes: 1 * KiB},
		},
		Catalog: Catalog{
			TopicsPath: "catalog.topics",
			Collection: "catalog_topics",
			URL:        "https://openalex.org/{id}",
		},
		Affiliation: Affiliation{Fields: []string{"affiliated", "aoi"}},
		Portfolio:   Portfolio{Enabled: true},
		Citation: Citation{
			URL: "https://scholar.google.com", Lifetime: 24 * time.Hour, Stale: 30 * 24 * time.Hour,
			Interval: 2 * time.Second, Timeout: 15 * time.Second,
		},
		Log:      Log{Level: "info", Format: "text", Requests: true},
		Shutdown: Shutdown{Delay: time.Second, Grace: 10 * time.Second},
	}
}

// defaultMaterialize builds what changes often every few minutes, the rest less
// often, and everything once a night.
func defaultMaterialize() Materialize {
	return Materialize{
		Enabled: true,
		Schedule: map[string]string{
			"activities": "@every 2m",
			"persons":    "@every 5m",
			"projects":   "@every 5m",
			"proposals":  "@every 5m",
			"user_units": "@every 5m",
			"spectrum":   "@every 10m",
			"journals":   "@every 15m",
			"events":     "@every 15m",
			"deadlines":  "@every 15m",
		},
		Full:      "30 3 * * *",
		Watch:     true,
		MaxShrink: 0.2,
		Batch:     500,
		Lease:     30 * time.Second,
	}
}

func defaultLimits() Limits {
	return Limits{
		Concurrency: 10_000,

		ClientConnections: 1000,
		KeyFailures:       30,

		URLBytes:       64 * KiB,
		BodyBytes:      16 * KiB,
		FilterBytes:    32 * KiB,
		FilterDepth:    64,
		FilterNodes:    10_000,
		RegexBytes:     4 * KiB,
		RegexTimeout:   200 * time.Millisecond,
		RequestTimeout: 10 * time.Second,
		Waiting:        1000,
		ReadTimeout:    10 * time.Second,
		WriteTimeout:   20 * time.Second,
		SendTimeout:    time.Hour,
		IdleTimeout:    60 * time.Second,
	}
}

// Demo returns the defaults of `vitrine serve --demo`: a store of its own, so
// that the made-up institute never mixes with real records, and everything on
// show.
func Demo() Config {
	c := Default()
	c.Store = "bolt://data/demo.db"
	c.Access.Anonymous = []string{"portfolio-spectrum", "projects.view", "proposals.view"}
	return c
}

// usePreset lays a preset's defaults over c. The empty name, like any that the
// check on the key has already refused, changes nothing.
func (c *Config) usePreset(name string) {
	if name == "osiris" {
		c.Catalog.TopicsPath = "openalex.topics"
		c.Affiliation.Fields = []string{"aoi"}
	}
}
