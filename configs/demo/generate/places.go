package main

import (
	"slices"
	"strconv"
)

// place says where an activity appeared or took place.
func (in *institute) place(a *activity, d dice, area string) {
	switch a.kind.subtype {
	case "article", "review":
		in.placeInJournal(a, d, area)
	case "preprint":
		a.venueName = "Nightly Preprints"
		a.venue.add("journal", a.venueName)
		a.link = "https://preprints.example/" + strconv.Itoa(a.day[0]) + "/" + d.digits(5)
		a.venue.add("publisher", "Quiet Press")
		a.venue.add("open_access", true)
	case "proceedings":
		in.placeInProceedings(a, d, area)
	case "chapter", "book":
		in.placeInBook(a, d)
	case "lecture", "poster":
		in.placeAtConference(a, d, area)
	case "software":
		a.link = "https://code.example/hins/" + shortID(a.title)
		a.venue.add("version", strconv.Itoa(d.n(4))+"."+strconv.Itoa(d.n(10)))
		a.venue.add("software_type", "software")
		a.venueName = "code.example"
		a.venue.add("software_venue", a.venueName)
	case "course":
		a.venue.add("module", "N"+d.digits(3))
		a.venue.add("category", pick(d, []string{"seminar", "lecture", "practical"}))
		a.venueName = "University of Halden"
		a.venue.add("location", a.venueName)
	default:
		a.venueName = "Halden"
		a.venue.add("location", a.venueName)
	}
}

func (in *institute) placeInJournal(a *activity, d dice, area string) {
	var near []journal
	for _, j := range in.journals {
		if j.area == area {
			near = append(near, j)
		}
	}
	j := pick(d, near)
	a.venueName = j.name
	a.venue.add("journal", j.name)
	if a.kind.typ == "review" {
		return
	}
	a.venue.add("journal_id", objectID("journals", j.number).Hex())
	a.venue.add("issn", array(j.issn))
	a.venue.add("volume", strconv.Itoa(a.day[0]-2009))
	if d.chance(70) {
		a.venue.add("issue", strconv.Itoa(d.between(1, 6)))
	}
	a.venue.add("publisher", j.publisher)
	a.venue.add("open_access", j.openSince > 0 && a.day[0] >= j.openSince)
	a.venue.add("epub", d.chance(8))
	a.pages = pages(d)
	a.identify(d)
}

// identify gives a publication a DOI, a PubMed number, a link, or nothing.
func (a *activity) identify(d dice) {
	if d.chance(75) {
		a.doi = doiOf(a.day[0], a.number)
	}
	if d.chance(20) {
		a.pubmed = strconv.Itoa(90_000_000 + a.number)
	}
	if a.doi == "" && d.chance(70) {
		a.link = "https://library.example/" + shortID(a.title)
	}
}

func (in *institute) placeInProceedings(a *activity, d dice, area string) {
	c := in.conferenceNear(area, a.day[0])
	name := c.full
	if name == "" {
		name = c.title
	}
	a.venueName = "Proceedings of the " + name
	a.venue.add("book", a.venueName)
	a.venue.add("conference", c.title)
	a.venue.add("publisher", "Umbra Verlag")
	a.venue.add("city", "Halden")
	a.venue.add("open_access", d.chance(60))
	a.venue.add("epub", d.chance(12))
	a.pages = pages(d)
	a.identify(d)
}

func (in *institute) placeInBook(a *activity, d dice) {
	if a.kind.subtype == "chapter" {
		a.venueName = pick(d, []string{"Handbook of the Night", "Companion to Quiet Places", "The Lamp and the Moth", "Sleepless Cities"})
		a.venue.add("book", a.venueName)
		a.pages = pages(d)
		for _, p := range some(d, d.between(1, 3), in.people) {
			a.editors = append(a.editors, colleague(p, a.day[0]))
		}
	}
	a.venue.add("publisher", "Umbra Verlag")
	a.venue.add("city", "Halden")
	a.venue.add("isbn", "978-0-00-"+d.digits(6)+"-"+strconv.Itoa(d.n(10)))
	if d.chance(50) {
		a.doi = doiOf(a.day[0], a.number)
	}
}

// placeAtConference takes the activity to a meeting of its area, in the
// meeting's year and days.
func (in *institute) placeAtConference(a *activity, d dice, area string) {
	c := in.conferenceNear(area, a.day[0])
	if d.chance(70) {
		day := dayOf(c.start)
		last := day
		if c.end != "" && d.chance(30) {
			last = dayOf(c.end)
		}
		a.setDates(day, last)
	}
	a.venueName = c.title
	a.venue.add("conference", c.title)
	a.venue.add("conference_id", objectID("conferences", c.number).Hex())
	a.venue.add("location", c.place)
	c.presentations = append(c.presentations, a.id())
	for _, p := range a.authors {
		if p.user != "" && !slices.Contains(c.people, p.user) {
			c.people = append(c.people, p.user)
		}
	}
}

// conferenceNear returns the meeting of an area that is nearest in time.
func (in *institute) conferenceNear(area string, year int) *conference {
	var best *conference
	for i := range in.conferences {
		c := &in.conferences[i]
		if c.area == area && (best == nil || distance(c.year(), year) < distance(best.year(), year)) {
			best = c
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// dayOf returns year, month and day of a date as it is stored.
func dayOf(date string) [3]int {
	return [3]int{number(date[:4]), number(date[5:7]), number(date[8:10])}
}

// number reads digits that are known to be some.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

func pages(d dice) string {
	first := d.between(1, 900)
	return strconv.Itoa(first) + "-" + strconv.Itoa(first+d.between(3, 24))
}
