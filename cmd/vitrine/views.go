package main

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy/api"
	proxylists "vitrine/proxy/lists"
)

func viewsOf(cfg configs.Config) []index.Definition { return api.Views(cfg.Catalog.TopicsPath + ".id") }

// allViews declares the views and, if there are public lists, what the lists need.
func (i *institute) allViews() []index.Definition {
	views := viewsOf(i.config)
	if !i.config.Lists.Enabled {
		return views
	}
	views = proxylists.Views(views, i.cite)
	hidden := ""
	if i.hidden != nil {
		hidden = i.hidden.String()
	}
	unsearched := view.Mode(i.config.Views.Mode) == view.Memory || embeddedPath(i.config) != ""
	for n := range views {
		if v := &views[n]; unsearched {
			v.WordRules = "" // no query would read the words
		} else if v.WordRules != "" {
			v.WordRules += " hidden(" + hidden + ")"
		}
	}
	return views
}

// withWords returns a job whose rows have the words by which the store finds them, if it is to search the view.
func (i *institute) withWords(job materialize.Job) materialize.Job {
	for _, v := range i.allViews() {
		if v.Name == job.View && v.WordRules != "" {
			words := v.WordsOf
			if i.hidden != nil { // callers must not find a record by what they may not see
				words = func(row bson.Raw) []string { return v.WordsOf(i.hidden.Strip(row)) }
			}
			return materialize.Searched(job, words, v.WordRules)
		}
	}
	return job
}
