package main

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// unit is a part of the institute.
type unit struct {
	id, name, german string
	parent           string // empty for the root
	level            int    // 0 for the root
	hide             bool
	area             string // what its people work on; empty if they do no research
}

// root is the institute itself.
const root = "HINS"

// allUnits is the tree, parents first. One has no German name, one a name that
// looks like markup, and one is closed.
var allUnits = []unit{
	{id: root, name: "Halden Institute of Night Sciences", german: "Haldener Institut für Nachtwissenschaften"},
	{id: "ECO", name: "Night Ecology", german: "Nachtökologie", parent: root, level: 1, area: "ecology"},
	{id: "MOTH", name: "Moths & Evening Flowers", german: "Nachtfalter & Abendblüten", parent: "ECO", level: 2, area: "ecology"},
	{id: "ECHO", name: "Owls, Bats and Echoes", german: "Eulen, Fledermäuse und Echos", parent: "ECO", level: 2, area: "ecology"},
	{id: "SKY", name: "Dark Skies", german: "Dunkler Himmel", parent: root, level: 1, area: "sky"},
	{id: "LAMP", name: "Lamps <and> Shadows", german: "Lampen und Schatten", parent: "SKY", level: 2, area: "sky"},
	{id: "REST", name: "Sleep and Dreams", german: "Schlaf und Traum", parent: root, level: 1, area: "sleep"},
	{id: "CLOCK", name: "Body Clocks", german: "Innere Uhren", parent: "REST", level: 2, area: "sleep"},
	{id: "LORE", name: "Cultures of the Night", parent: root, level: 1, area: "lore"},
	{id: "TOOL", name: "Quiet Instruments", german: "Leise Instrumente", parent: root, level: 1, hide: true, area: "sky"},
	{id: "ADM", name: "Administration", german: "Verwaltung", parent: root, level: 1, hide: true},
	{id: "WICK", name: "Lantern Archive (closed)", german: "Laternenarchiv (geschlossen)", parent: "LORE", level: 2, hide: true, area: "lore"},
}

func (u unit) doc() bson.D {
	return bson.D{
		{Key: "_id", Value: objectID("groups", slices.IndexFunc(allUnits, func(o unit) bool { return o.id == u.id }))},
		{Key: "id", Value: u.id},
		{Key: "name", Value: u.name},
		{Key: "name_de", Value: orNull(u.german)},
		{Key: "parent", Value: orNull(u.parent)},
		{Key: "level", Value: u.level},
		{Key: "hide", Value: u.hide},
	}
}

// withParents returns the units with those that they are part of, sorted.
func withParents(ids []string) []string {
	all := []string{}
	for _, id := range ids {
		for id != "" {
			all = append(all, id)
			id = unitByID(id).parent
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unitByID returns the unit, or an empty one if there is none.
func unitByID(id string) unit {
	for _, u := range allUnits {
		if u.id == id {
			return u
		}
	}
	return unit{}
}
