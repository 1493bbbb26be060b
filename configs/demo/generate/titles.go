package main

import "strings"

// vocabulary holds, per area, the words for each slot of its templates.
var vocabulary = map[string]map[string][]string{
	"ecology": {
		"keyword":  {"nocturnality", "flight", "lamps", "orientation", "scent", "hearing", "moon phase", "gardens"},
		"creature": {"Hawk Moths", "Barn Owls", "Pipistrelle Bats", "Glow-Worms", "Nightjars", "Hedgehogs", "Tree Frogs", "Fireflies", "Badgers", "Shearwaters", "Lacewings", "<i>Noctua lampadis</i>", "<i>Oenothera vespera</i>"},
		"doing":    {"Flight Paths", "Mating Calls", "Foraging", "Orientation", "Nectar Choice", "Emergence Times", "Echolocation", "Roosting", "Resting Places", "Territories"},
		"when":     {"a Full Moon", "Coastal Fog", "the First Frost", "Polar Twilight", "Street Lamps", "a Lunar Eclipse", "Urban Skyglow", "Warm Rain", "CO<sub>2</sub>-Rich Air"},
		"where":    {"Old Orchards", "Forty Gardens", "a Railway Tunnel", "the Halden Canal", "Church Towers", "a Botanical Garden", "Salt Meadows", "Allotments"},
	},
	"sky": {
		"keyword": {"photometry", "twilight", "shielding", "calibration", "zenith", "clouds", "lumens", "cameras"},
		"thing":   {"Zodiacal Light", "Airglow", "Noctilucent Clouds", "Faint Meteors", "Lunar Halos", "Skyglow", "Sodium Lamps", "Lighthouse Beams", "Shielded Lanterns", "Twilight Colours"},
		"tool":    {"All-Sky Cameras", "Citizen Photometers", "Balloon-Borne Sensors", "Rooftop Meters", "a Pinhole and Patience", "Retired Lighthouse Lenses", "Low-Noise Detectors"},
		"scale":   {"One Hundred Towns", "a Fjord", "Twelve Winters", "a Single Street", "10<sup>−3</sup> Lux", "the Harbour of Halden", "Three Mountain Passes"},
		"task":    {"Measuring", "Modelling", "Dimming", "Mapping", "Forecasting", "Comparing"},
	},
	"sleep": {
		"keyword": {"melatonin", "diaries", "vigilance", "naps", "recall", "light exposure", "mood", "recovery"},
		"people":  {"Shift Workers", "Night-Train Passengers", "Lighthouse Keepers", "Adolescents", "Nurses on Call", "Bakers", "New Parents", "Astronomers", "Ferry Crews"},
		"state":   {"Short Naps", "Dream Recall", "Melatonin Onset", "Snoring", "the Second Sleep", "Circadian Phase", "Lucid Dreams", "Body Temperature"},
		"effect":  {"Reaction Time", "Mood at Breakfast", "the Memory of Melodies", "Appetite before Dawn", "Handwriting", "Risk Taking", "Patience"},
		"study":   {"a Field Study", "a Diary Study", "a Crossover Trial", "Two Winters of Data", "a Pre-Registered Replication"},
	},
	"lore": {
		"keyword": {"archives", "songs", "lanterns", "oral history", "harbours", "watchmen", "calendars", "stages"},
		"custom":  {"Lullabies", "Night Watchmen’s Songs", "Ghost Stories", "Lantern Festivals", "Star Names", "Midnight Markets", "Shadow Theatre", "Curfew Bells", "Bedtime Prayers"},
		"place":   {"Harbour Towns", "Mountain Villages", "Northern Parishes", "Early Modern Almanacs", "Travelling Theatres", "the Lamplighters’ Guild", "Island Parishes"},
		"source":  {"Parish Diaries", "Ships’ Logs", "Police Ledgers", "Letters to an Insomniac", "a Lamplighter’s Notebook", "Recordings on Wax"},
		"span":    {"1650–1800", "the Long Nineteenth Century", "a Thousand and One Evenings", "Four Generations", "the Years without Lamps"},
	},
}

// patterns are titles with slots.
var patterns = map[string][]string{
	"ecology": {
		"{doing} of {creature} under {when}",
		"{creature} and {creature}: Shared {doing} in {where}",
		"How {when} Changes the {doing} of {creature}",
		"{doing} in the Dark: {creature} of {where}",
		"Do {creature} Mind {when}? Evidence from {where}",
		"A Year of {creature} in {where}",
		"Counting {creature} by Ear",
	},
	"sky": {
		"{task} {thing} with {tool}",
		"{thing} over {scale}",
		"{task} {thing} across {scale}",
		"What {tool} Tell Us about {thing}",
		"{thing} & {thing}: A Common Calibration with {tool}",
		"Towards Darker Nights: {task} {thing} over {scale}",
	},
	"sleep": {
		"{state} and {effect} in {people}: {study}",
		"The Effect of {state} on {effect}",
		"{state} among {people}",
		"Why {people} Remember {state}: {study}",
		"{people}, {effect} and {state}",
		"Before Dawn: {effect} of {people}",
	},
	"lore": {
		"{custom} of {place}, {span}",
		"“Put out the light”: {custom} in {source}",
		"{custom} and {custom} in {place}",
		"Reading {source}: {custom} through {span}",
		"From {place} to the Stage: {custom} Reconsidered",
		"Zur Geschichte der Laterne: {custom} in {source}",
	},
}

// titler makes titles, none twice.
type titler struct {
	d    dice
	used map[string]bool
}

func newTitler() *titler { return &titler{newDice("titles"), map[string]bool{}} }

// title returns a new title of the area.
func (t *titler) title(area string) string {
	for {
		title := t.fill(pick(t.d, patterns[area]), vocabulary[area])
		if !t.used[title] {
			t.used[title] = true
			return title
		}
	}
}

// fill replaces each slot by a word, never twice by the same in one title.
func (t *titler) fill(pattern string, words map[string][]string) string {
	var out strings.Builder
	for pattern != "" {
		before, rest, _ := strings.Cut(pattern, "{")
		slot, after, found := strings.Cut(rest, "}")
		out.WriteString(before)
		if !found {
			break
		}
		word := pick(t.d, words[slot])
		for strings.Contains(out.String(), word) {
			word = pick(t.d, words[slot])
		}
		out.WriteString(word)
		pattern = after
	}
	return out.String()
}
