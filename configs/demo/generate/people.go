package main

import (
	"fmt"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// person is one of the institute's people.
type person struct {
	number          int
	username        string
	first, last     string
	academicTitle   string
	position        position
	memberships     []membership
	active          string // "yes", "no" or "" for not stored
	hide            bool
	print           bool // prefers activities in their print form
	roles           []string
	orcid           string
	withoutAnyUnits bool // an empty list is stored
}

// membership is a time in a unit. end is empty while it lasts.
type membership struct {
	unit       string
	start, end string
}

// position is what somebody works as.
type position struct{ english, german string }

var positions = []position{
	{"Night naturalist", "Nachtnaturkundler:in"},
	{"Group leader", "Gruppenleitung"},
	{"Doctoral researcher", "Promovierende:r"},
	{"Researcher", "Wissenschaftler:in"},
	{"Instrument maker", ""},
	{"Keeper of the collection", "Sammlungsleitung"},
}

const peopleCount = 42

// newPeople returns the people with a username. The first few have by design
// what is rare by chance.
func newPeople(units []unit) []person {
	d := newDice("people")
	research := slices.DeleteFunc(slices.Clone(units), func(u unit) bool { return u.area == "" || u.level == 0 || u.id == "WICK" })
	people := make([]person, 0, peopleCount)
	taken := map[string]bool{}
	lasts := some(d, peopleCount, lastNames)
	for i := range peopleCount {
		p := person{number: i, first: pick(d, firstNames), last: lasts[i], active: "yes", roles: []string{"user"}}
		if d.chance(25) {
			p.first += " " + string(rune('A'+d.n(26))) + "."
		}
		p.username = username(p.first, p.last)
		if taken[p.username] {
			p.username += strconv.Itoa(i)
		}
		taken[p.username] = true
		p.academicTitle = pick(d, []string{"", "", "M.Sc.", "Dr.", "Dr.", "Prof. Dr."})
		p.position = pick(d, positions)
		p.memberships = history(d, research)
		if d.chance(50) {
			p.orcid = fmt.Sprintf("0000-0009-%s-%s", d.digits(4), d.digits(4)) // a block that is not given out
		}
		people = append(people, p)
	}
	peculiar(people)
	return people
}

// history returns one to three memberships in a row, the last of them often
// still running.
func history(d dice, units []unit) []membership {
	var all []membership
	year := d.between(2011, 2020)
	for _, u := range some(d, d.between(1, 3), units) {
		m := membership{unit: u.id, start: date(year, d.between(1, 12), 1)}
		year += d.between(1, 5)
		if year > 2025 {
			return append(all, m)
		}
		m.end = date(year, d.between(1, 12), 28)
		all = append(all, m)
	}
	if d.chance(75) {
		all[len(all)-1].end = ""
	}
	return all
}

// peculiar gives single people what real records have here and there.
func peculiar(people []person) {
	people[0].roles = []string{"user", "admin"}
	people[1].roles = []string{"user", "projects-viewer"}
	people[2].print = true
	people[3].print = true
	people[4].hide = true
	people[5].active = ""
	people[6].active = "no"
	people[7].active = "no"
	// Twice in one unit: the later time counts.
	people[8].memberships = []membership{{"MOTH", "2012-04-01", "2014-03-31"}, {"ECO", "2014-04-01", "2018-09-30"}, {"MOTH", "2019-01-01", ""}}
	// The earlier time runs on, the later has ended.
	people[9].memberships = []membership{{"LORE", "2013-02-01", ""}, {"LORE", "2016-02-01", "2017-01-31"}}
	// A unit that nobody knows any more, and one yet to come.
	people[10].memberships = []membership{{"GONE", "2011-01-01", "2012-12-31"}, {"REST", "2013-01-01", ""}}
	people[11].memberships = []membership{{"SKY", "2018-01-01", ""}, {"LAMP", "2090-01-01", ""}}
	people[12].memberships, people[12].withoutAnyUnits = nil, true
	people[13].memberships = []membership{{"WICK", "2011-03-01", "2015-12-31"}}
	// A name that looks like markup.
	people[14].first = "Bram <b>"
}

func (p person) doc() bson.D {
	f := &fields{}
	f.add("_id", objectID("persons", p.number))
	f.add("username", p.username)
	f.add("first", p.first)
	f.add("last", p.last)
	f.add("displayname", p.first+" "+p.last)
	f.add("formalname", p.last+", "+p.first)
	f.add("academic_title", orNull(p.academicTitle))
	f.add("position", p.position.english)
	f.add("position_de", orNull(p.position.german))
	f.add("mail", p.username+"@hins.example")
	f.add("units", p.unitHistory())
	if p.active != "" {
		f.add("is_active", p.active == "yes")
	}
	f.add("roles", array(p.roles))
	f.add("created", date(2020, 1+p.number%12, 1+p.number%28))
	addIf(f, "orcid", p.orcid)
	addIf(f, "hide", p.hide)
	if p.print {
		f.add("display_activities", "print")
	} else if p.number%9 == 0 {
		f.add("display_activities", "web")
	}
	return f.d
}

func (p person) unitHistory() bson.A {
	history := bson.A{}
	for i, m := range p.memberships {
		f := &fields{}
		if m.unit != "GONE" { // the oldest entries have no ID of their own
			f.add("id", shortID(p.username+strconv.Itoa(i)))
		}
		f.add("unit", m.unit)
		f.add("start", m.start)
		f.add("end", orNull(m.end))
		addIf(f, "scientific", m.unit != "GONE")
		history = append(history, f.d)
	}
	return history
}

// unitsIn returns the units somebody belonged to in a year.
func (p person) unitsIn(year int) []string {
	var ids []string
	for _, m := range p.memberships {
		from, to := m.start[:4], "9999"
		if m.end != "" {
			to = m.end[:4]
		}
		if y := strconv.Itoa(year); from <= y && y <= to && m.unit != "GONE" && !slices.Contains(ids, m.unit) {
			ids = append(ids, m.unit)
		}
	}
	return ids
}

// area returns what somebody works on.
func (p person) area() string {
	for _, m := range p.memberships {
		if a := unitByID(m.unit).area; a != "" {
			return a
		}
	}
	return "lore"
}

// guests are records without a username, as imports leave them behind.
func guests() []bson.D {
	var all []bson.D
	for i, name := range []string{"Guest of the Moth Night", "Guest 2", "Guest 3"} {
		f := &fields{}
		f.add("_id", objectID("persons", 900+i))
		f.add("first", nil)
		f.add("last", name)
		f.add("username", nil)
		f.add("units", nil)
		all = append(all, f.d)
	}
	return all
}

// date returns a date as it is stored.
func date(year, month, day int) string { return fmt.Sprintf("%04d-%02d-%02d", year, month, day) }
