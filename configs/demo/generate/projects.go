package main

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// plan is what makes a project or proposal itself; the rest is chance.
type plan struct{ acronym, title, area string }

var projectPlans = []plan{
	{"MOTHLAMP", "Moths around lamps: a survey of forty streets", "ecology"},
	{"OWLNET", "A listening network for owls", "ecology"},
	{"NECTAR", "Nectar after dark", "ecology"},
	{"ECHOMAP", "Mapping rooms by bat calls", "ecology"},
	{"HEDGE", "Hedgehog highways", "ecology"},
	{"GLOW", "Glow-worms and the moon", "ecology"},
	{"FROG-5", "Five choruses: frogs of the coast", "ecology"},
	{"SKYGLOW", "Skyglow over small towns", "sky"},
	{"SHIELD", "Shielded luminaires in practice", "sky"},
	{"DUST", "Dust between the planets", "sky"},
	{"ROOFTOP", "One hundred rooftop photometers", "sky"},
	{"DIMMER", "Dimming schedules & road safety", "sky"},
	{"HALO", "Lunar halos as weather signs", "sky"},
	{"NAPS", "Short naps for long nights", "sleep"},
	{"BAKERS", "Bakers and early hours", "sleep"},
	{"SECOND", "The second sleep", "sleep"},
	{"NIGHTRAIN", "Resting on night trains", "sleep"},
	{"DREAMLOG", "A thousand dream diaries", "sleep"},
	{"WATCH", "Keeping watch at sea", "sleep"},
	{"LULLABY", "Lullabies of three harbours", "lore"},
	{"CURFEW", "Curfew bells, 1650–1800", "lore"},
	{"GHOST", "Ghost stories and their listeners", "lore"},
	{"ALMANAC", "Almanacs and moon calendars", "lore"},
	{"LANTERN", "Lantern festivals <i>in situ</i>", "lore"},
	{"", "Books for the Night Library", "lore"},
}

var proposalPlans = []plan{
	{"MOTHLAMP2", "Moths around lamps: the second survey", "ecology"},
	{"PIPISTRELLE", "Small bats in large buildings", "ecology"},
	{"SCENT", "Why flowers smell at dusk", "ecology"},
	{"NIGHTJAR", "Nightjars and quiet roads", "ecology"},
	{"AIRGLOW", "The airglow above the fjord", "sky"},
	{"AMBER", "Amber light for harbours", "sky"},
	{"METEOR", "Faint meteors by ear and eye", "sky"},
	{"BEACON", "What a lighthouse does to the sky", "sky"},
	{"SNORE", "Snoring and its listeners", "sleep"},
	{"TEMPO", "Body temperature at night", "sleep"},
	{"FLYING", "Dreams of flying", "sleep"},
	{"WARD-7", "Light on the ward", "sleep"},
	{"MARKET", "Midnight markets", "lore"},
	{"SHADOW", "Shadow theatre on the road", "lore"},
	{"STARNAME", "Folk names of stars", "lore"},
}

// project is a project or a proposal; they are stored alike.
type project struct {
	id  bson.ObjectID
	raw bson.D
	// name is what activities refer to it by; area and start are of use there too.
	name, area string
	startYear  int
}

func (p project) doc() bson.D { return p.raw }

// newProjects returns a project for each plan.
func (in *institute) newProjects(collection string, plans []plan) []project {
	all := make([]project, len(plans))
	for i, p := range plans {
		all[i] = in.newProject(collection, i, p)
	}
	return all
}

func (in *institute) newProject(collection string, number int, p plan) project {
	d := newDice(collection + " " + p.title)
	name := p.acronym
	if name == "" {
		name = "NIGHT-LIBRARY"
	}
	year := d.between(2013, 2025)
	team := some(d, d.between(2, 5), in.peopleOf(p.area))

	f := &fields{}
	f.add("_id", objectID(collection, number))
	f.add("name", name)
	f.add("acronym", p.acronym)
	f.add("title", p.title)
	f.add("type", pick(d, []string{"third-party", "third-party", "third-party", "own", "scholarship", "subproject"}))
	f.add("status", pick(d, statuses(collection)))
	f.add("role", pick(d, []string{"coordinator", "partner", "associated"}))
	f.add("funder", pick(d, []string{"dfg", "eu", "bmbf", "foundation", "industry", "own"}))
	f.add("start_date", date(year, 1+3*d.n(4), 1))
	f.add("end_date", date(year+d.between(1, 4), 12, 31))
	f.add("units", array(unitsOf(team)))
	f.add("topics", array(some(d, d.n(3), houseTopics)))
	f.add("tags", array(some(d, d.n(3), projectTags)))
	f.add("persons", roster(team))
	f.add("contact", team[0].username)
	f.add("public", d.chance(60))
	f.add("created_by", pick(d, team).username)
	if number%12 != 5 { // some have no year
		f.add("year", year)
	}
	in.addFunding(f, d, number)
	in.addRelations(f, d, collection, number)
	return project{id: objectID(collection, number), raw: f.d, name: name, area: p.area, startYear: year}
}

func statuses(collection string) []string {
	if collection == "proposals" {
		return []string{"applied", "applied", "approved", "rejected"}
	}
	return []string{"ongoing", "ongoing", "finished", "approved"}
}

// Words of the house, for projects and activities.
var (
	houseTopics = []string{"light", "sound", "rest", "heritage"}
	projectTags = []string{"flagship", "citizen-science", "open-science"}
)

// peopleOf returns those who work on an area.
func (in *institute) peopleOf(area string) []person {
	var all []person
	for _, p := range in.people {
		if p.area() == area {
			all = append(all, p)
		}
	}
	return all
}

// unitsOf returns all units the people ever belonged to, with parents.
func unitsOf(team []person) []string {
	var ids []string
	for _, p := range team {
		for _, m := range p.memberships {
			if m.unit != "GONE" {
				ids = append(ids, m.unit)
			}
		}
	}
	return withParents(ids)
}

func roster(team []person) bson.A {
	all := bson.A{}
	for i, p := range team {
		role := "worker"
		if i == 0 {
			role = "PI"
		}
		all = append(all, bson.D{
			{Key: "user", Value: p.username},
			{Key: "name", Value: p.first + " " + p.last},
			{Key: "role", Value: role},
		})
	}
	return all
}

// addFunding stores funding numbers the four ways they come: as text, as
// digits, as a list, and with a comma inside.
func (in *institute) addFunding(f *fields, d dice, number int) {
	switch number % 5 {
	case 0:
		f.add("funding_number", "LF-"+d.digits(6))
	case 1:
		f.add("funding_number", d.digits(6))
	case 2:
		f.add("funding_number", bson.A{"ENP-" + d.digits(7), "NRC/" + d.digits(4)})
	case 3:
		f.add("funding_number", bson.A{"QC-" + d.digits(5), "A,B"})
	}
	if number%3 == 0 {
		f.add("funding_organization", objectID("organizations", d.n(len(in.organizations))))
	}
	if number%7 == 3 {
		f.add("scholarship", objectID("organizations", d.n(len(in.organizations))))
	}
}

func (in *institute) addRelations(f *fields, d dice, collection string, number int) {
	if number%4 == 1 {
		f.add("collaborators", bson.A{
			bson.D{{Key: "name", Value: "University of Tenebra"}, {Key: "country", Value: "IT"}},
			bson.D{{Key: "name", Value: pick(d, []string{"Museum of Lamps", "Polar Night Station"})}, {Key: "country", Value: "NO"}},
		})
	}
	if number%6 == 2 {
		f.add("subproject", true)
	}
	if collection != "projects" {
		return
	}
	if number < len(in.proposals) && number%2 == 0 {
		f.add("proposal_id", in.proposals[number].id)
	}
	if number%8 == 0 {
		f.add("timeline", bson.A{
			bson.D{{Key: "date", Value: date(2020, 2, 1)}, {Key: "event", Value: "kick-off"}},
			bson.D{{Key: "date", Value: date(2021, 2, 1)}, {Key: "event", Value: "review " + strconv.Itoa(number)}},
		})
	}
}
