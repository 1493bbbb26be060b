package main

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// journal is a journal.
type journal struct {
	number    int
	name      string
	publisher string
	issn      []string
	openSince int // 0: not open access
	area      string
}

func newJournals() []journal {
	d := newDice("journals")
	names := []struct{ name, publisher, area string }{
		{"Annals of Nocturnal Ecology", "Quiet Press", "ecology"},
		{"Moth & Blossom", "Quiet Press", "ecology"},
		{"Journal of Applied Echolocation", "Underwing Publishers", "ecology"},
		{"Darkness Letters", "Society for Dark Skies", "sky"},
		{"Transactions on Lanterns", "Society for Dark Skies", "sky"},
		{"Bulletin of Faint Light", "Umbra Verlag", "sky"},
		{"Sleep Across the Lifespan", "Pillow & Sons", "sleep"},
		{"Archives of Dreaming", "Pillow & Sons", "sleep"},
		{"Circadian Notes", "Underwing Publishers", "sleep"},
		{"Night Studies Quarterly", "Umbra Verlag", "lore"},
		{"Zeitschrift für Nachtkultur", "Umbra Verlag", "lore"},
		{"Lullaby: A Journal of Evening Song", "Quiet Press", "lore"},
	}
	all := make([]journal, len(names))
	for i, n := range names {
		all[i] = journal{number: i, name: n.name, publisher: n.publisher, area: n.area}
		for range 1 + i%2 {
			all[i].issn = append(all[i].issn, "9"+d.digits(3)+"-"+d.digits(3)+pick(d, []string{"X", "1", "7"}))
		}
		if d.chance(40) {
			all[i].openSince = d.between(2010, 2020)
		}
	}
	return all
}

// doc stores a single ISSN as text or as a list of one, and open access as a
// year or false, as the records do.
func (j journal) doc() bson.D {
	d := newDice("journal " + j.name)
	var impact bson.A
	for year := 2019; year <= 2025; year++ {
		impact = append(impact, bson.D{{Key: "year", Value: year}, {Key: "impact", Value: d.decimals(0.2, 9.8, 100)}})
	}
	f := &fields{}
	f.add("_id", objectID("journals", j.number))
	f.add("journal", j.name)
	f.add("abbr", abbreviated(j.name))
	if len(j.issn) == 1 && j.number%4 == 0 {
		f.add("issn", j.issn[0])
	} else {
		f.add("issn", array(j.issn))
	}
	f.add("publisher", j.publisher)
	f.add("impact", impact)
	if j.openSince > 0 {
		f.add("oa", j.openSince)
	} else {
		f.add("oa", false)
	}
	if j.number == 9 {
		f.add("title", "Night Studies Quarterly: Culture after Dark") // one has what a search looks in
	}
	return f.d
}

// abbreviated shortens the long words of a name.
func abbreviated(name string) string {
	words := strings.Fields(name)
	for i, w := range words {
		if r := []rune(w); len(r) > 6 {
			words[i] = string(r[:5]) + "."
		}
	}
	return strings.Join(words, " ")
}

// conference is a meeting.
type conference struct {
	number        int
	title, full   string
	start, end    string // end may be empty
	place         string
	country       string // may be empty
	kind          string
	area          string
	people        []string
	presentations []bson.ObjectID
}

func newConferences() []conference {
	all := []conference{
		{title: "MothNight 2015", full: "First International Night of Moths", start: "2015-06-12", end: "2015-06-14", place: "Halden", country: "NO", area: "ecology"},
		{title: "EchoMeet 2017", full: "Meeting on Bats and Echoes", start: "2017-09-04", end: "2017-09-06", place: "Gruyère", country: "CH", area: "ecology"},
		{title: "DarkSky 2018", full: "Dark Sky Symposium", start: "2018-11-07", end: "2018-11-09", place: "Tekapo", country: "NZ", area: "sky"},
		{title: "SomnoConf 2019", full: "European Conference on Sleep and Song", start: "2019-03-20", end: "2019-03-22", place: "Leuven", country: "BE", area: "sleep"},
		{title: "Night Cultures 2019", full: "Congress of Night Cultures", start: "2019-10-10", end: "2019-10-12", place: "Valparaíso", country: "CL", area: "lore"},
		{title: "MothNight 2020 (online)", start: "2020-06-19", end: "2020-06-19", place: "online", area: "ecology"},
		{title: "Lamps & Shadows 2021", full: "Workshop on Lamps & Shadows", start: "2021-05-04", end: "2021-05-05", place: "Eindhoven <NL>", country: "NL", kind: "workshop", area: "sky"},
		{title: "SomnoConf 2022", full: "European Conference on Sleep and Song", start: "2022-12-30", end: "2023-01-02", place: "Tromsø", country: "NO", area: "sleep"},
		{title: "DarkSky 2023", full: "Dark Sky Symposium", start: "2023-09-18", end: "2023-09-21", place: "La Palma", country: "ES", area: "sky"},
		{title: "Night Cultures 2023", full: "Congress of Night Cultures", start: "2023-10-05", end: "2023-10-07", place: "Halle (Saale)", country: "DE", area: "lore"},
		{title: "MothNight 2024", full: "Tenth International Night of Moths", start: "2024-06-07", end: "2024-06-09", place: "Halden", country: "NO", area: "ecology"},
		{title: "Reading Group: Faint Light", start: "2024-01-15", place: "Halden", country: "NO", kind: "workshop", area: "sky"},
		{title: "SomnoConf 2025", full: "European Conference on Sleep and Song", start: "2025-03-26", end: "2025-03-28", place: "Porto", country: "PT", area: "sleep"},
		{title: "Open Night 2025", full: "Open Night of the Institute", start: "2025-09-27", end: "2025-09-28", place: "Halden", country: "NO", kind: "event", area: "lore"},
	}
	for i := range all {
		all[i].number = i
		if all[i].kind == "" {
			all[i].kind = "conference"
		}
	}
	return all
}

func (c conference) year() int { return dayOf(c.start)[0] }

func (c conference) doc() bson.D {
	return bson.D{
		{Key: "_id", Value: objectID("conferences", c.number)},
		{Key: "title", Value: c.title},
		{Key: "title_full", Value: orNull(c.full)},
		{Key: "start", Value: c.start},
		{Key: "end", Value: orNull(c.end)},
		{Key: "location", Value: c.place},
		{Key: "country", Value: orNull(c.country)},
		{Key: "type", Value: c.kind},
		{Key: "url", Value: "https://meetings.example/" + shortID(c.title)},
		{Key: "description", Value: ""},
		{Key: "participants", Value: array(c.people)},
		{Key: "activities", Value: array(c.presentations)},
		{Key: "topics", Value: bson.A{}},
	}
}

// newDeadlines returns dates to hand something in, for meetings and for calls.
func newDeadlines(conferences []conference) []bson.D {
	last := conferences[len(conferences)-2]
	plans := []struct {
		title, date, description string
		conference               any
	}{
		{"Abstracts for " + last.title, "2024-12-01", "Two pages, in by midnight.", objectID("conferences", last.number)},
		{"Open Night: booths and talks", "2025-06-30", "Bring a lamp that can be dimmed.", objectID("conferences", len(conferences)-1)},
		{"Travel grants of the Lantern Fund", "2025-10-15", "", nil},
		{"Annual report: lists of publications", "2026-01-31", "From all units.", nil},
		{"Call “Quiet Cities”", "2026-12-15", "Outlines of five pages.", nil},
	}
	all := make([]bson.D, len(plans))
	for i, p := range plans {
		all[i] = bson.D{
			{Key: "_id", Value: objectID("deadlines", i)},
			{Key: "title", Value: p.title},
			{Key: "type", Value: "deadline"},
			{Key: "start", Value: p.date},
			{Key: "end", Value: p.date},
			{Key: "description", Value: p.description},
			{Key: "url", Value: "https://hins.example/deadlines/" + strconv.Itoa(i+1)},
			{Key: "conference", Value: p.conference},
		}
	}
	return all
}

// organization is a funder or partner.
type organization struct {
	number      int
	name, place string
}

func newOrganizations() []organization {
	all := []organization{
		{name: "Lantern Fund", place: "Halden"},
		{name: "Foundation for Quiet Cities", place: "Rotterdam"},
		{name: "Northern Research Council", place: "Oslo"},
		{name: "Society for Dark Skies", place: "Tekapo"},
		{name: "Ministry of Evening Affairs", place: "Bergen"},
		{name: "Pillow & Sons Endowment", place: "Leuven"},
		{name: "European Night Programme", place: "Brussels"},
		{name: "Owl Trust <international>", place: "Athens"},
	}
	for i := range all {
		all[i].number = i
	}
	return all
}

func (o organization) doc() bson.D {
	return bson.D{
		{Key: "_id", Value: objectID("organizations", o.number)},
		{Key: "name", Value: o.name},
		{Key: "location", Value: o.place},
	}
}
