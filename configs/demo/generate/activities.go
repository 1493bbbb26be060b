package main

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// newActivities returns all activities in an order that mixes their kinds.
func (in *institute) newActivities() []*activity {
	var order []kind
	for _, k := range kinds {
		order = append(order, slices.Repeat([]kind{k}, k.count)...)
	}
	order = some(newDice("order of activities"), len(order), order)
	titles := newTitler()
	all := make([]*activity, len(order))
	for i, k := range order {
		all[i] = in.newActivity(i, k, titles)
	}
	return all
}

func (in *institute) newActivity(number int, k kind, titles *titler) *activity {
	d := newDice("activity " + strconv.Itoa(number))
	lead := pick(d, in.people)
	area := lead.area()
	a := &activity{number: number, kind: k, title: k.prefix + titles.title(area)}
	a.setDates(in.dates(d, k))
	a.authors = in.authors(d, k, lead, a.day[0])
	a.createdBy = "import"
	if k.typ != "publication" || d.chance(30) {
		a.createdBy = lead.username
	}
	a.belong()
	in.place(a, d, area)
	if a.affiliated && d.chance(90) {
		a.topics = assigned(d, in.topics, area)
	}
	in.decorate(a, d, area)
	return a
}

// dates returns first and last day. Publications and talks have one day;
// courses run over quarters and years; some software is never finished.
func (in *institute) dates(d dice, k kind) (first, last [3]int) {
	year := 2026 - min(d.n(13), d.n(13)) // more of late than of old
	first = [3]int{year, d.between(1, 12), d.between(1, 28)}
	if year == 2026 {
		first[1] = d.between(1, 9)
	}
	last = first
	switch k.typ {
	case "teaching":
		first[1], first[2] = pick(d, []int{4, 10}), d.between(1, 15)
		if year == 2026 {
			first[1] = 4
		}
		last = [3]int{year, 7, 15}
		if first[1] == 10 {
			last = [3]int{year + 1, 2, 10}
		}
		if d.chance(30) {
			last = [3]int{}
		}
	case "software":
		if d.chance(50) {
			last = [3]int{}
		}
	case "review":
		if d.chance(25) {
			last = [3]int{year, min(12, first[1]+4), 28}
		}
	}
	return first, last
}

// authors returns the lead, colleagues and people from elsewhere. Publications
// have many, other activities one or two.
func (in *institute) authors(d dice, k kind, lead person, year int) []author {
	all := []author{colleague(lead, year)}
	colleagues, others := d.n(3), d.n(4)
	if k.typ != "publication" {
		colleagues, others = d.n(2), 0
	}
	for _, p := range some(d, colleagues, in.people) {
		if p.number != lead.number {
			all = append(all, colleague(p, year))
		}
	}
	for range others {
		first := pick(d, firstNames)
		if d.chance(40) {
			first += " " + string(rune('A'+d.n(26))) + "."
		}
		all = append(all, author{first: first, last: pick(d, lastNames), affiliated: false})
	}
	return some(d, len(all), all)
}

// colleague returns a person as an author: affiliated in the years of a membership.
func colleague(p person, year int) author {
	a := author{first: p.first, last: p.last, user: p.username, affiliated: false}
	if units := p.unitsIn(year); len(units) > 0 {
		a.affiliated, a.units = true, units
	}
	return a
}

// belong derives units and affiliation from the authors.
func (a *activity) belong() {
	var ids []string
	a.affiliated = false
	for _, p := range a.authors {
		if p.own() {
			a.affiliated = true
			ids = append(ids, p.units...)
		}
	}
	a.units = array(withParents(ids))
}

// decorate adds what some activities have: house topics, tags, a state, projects.
func (in *institute) decorate(a *activity, d dice, area string) {
	if d.chance(20) {
		a.houseTopics = some(d, d.between(1, 2), houseTopics)
	}
	if d.chance(15) {
		a.tags = some(d, d.between(1, 2), []string{"open-science", "press", "best-paper", "citizen-science"})
	}
	if d.chance(8) {
		a.status = pick(d, []string{"verified", "in-review", "rejected"})
	}
	if d.chance(18) {
		a.projects = in.projectsOf(d, area)
	}
	a.hide = d.chance(2)
	a.rendered = !d.chance(34)
}

// projectsOf returns what links an activity to projects of its area: the name
// of one, or the IDs of some.
func (in *institute) projectsOf(d dice, area string) any {
	var near []project
	for _, p := range in.projects {
		if p.area == area {
			near = append(near, p)
		}
	}
	if d.chance(50) {
		return pick(d, near).name
	}
	ids := bson.A{}
	for _, p := range some(d, d.between(1, 2), near) {
		ids = append(ids, p.id)
	}
	return ids
}
