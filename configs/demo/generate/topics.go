package main

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// topic is an entry of the topic catalogue.
type topic struct {
	number          int
	name            string
	area            string
	subfield, field string
	domain          string
	subfieldID      string
	fieldID         string
	domainID        string
}

// branches is the catalogue's hierarchy: per subfield its topics. The area ties
// it to the units that work on it.
var branches = []struct {
	area, domain, field, subfield string
	topics                        []string
}{
	{"ecology", "Life Sciences", "Night Ecology", "Nocturnal Pollination",
		[]string{"Moth Pollination Networks", "Evening-Scented Flowers", "Nectar After Dark", "Hawk Moth Flight"}},
	{"ecology", "Life Sciences", "Night Ecology", "Acoustic Ecology",
		[]string{"Bat Echolocation", "Owl Calls and Territories", "Soundscapes Before Dawn", "Frog Choruses"}},
	{"ecology", "Life Sciences", "Night Ecology", "Light and Wildlife",
		[]string{"Artificial Light and Insects", "Bird Migration by Night", "Moonlight and Foraging", "Bioluminescence in the Field"}},
	{"ecology", "Life Sciences", "Field Methods", "Observation in the Dark",
		[]string{"Thermal Cameras for Small Animals", "Light Traps and Their Bias", "Counting What Is Not Seen"}},
	{"sky", "Physical Sciences", "Sky Physics", "Brightness of the Night",
		[]string{"Skyglow Measurement", "Airglow and Zodiacal Light", "Noctilucent Clouds", "Twilight Colours"}},
	{"sky", "Physical Sciences", "Sky Physics", "Small Bodies",
		[]string{"Faint Meteors", "Lunar Halos and Eclipses", "Dust Between the Planets"}},
	{"sky", "Physical Sciences", "Lighting Engineering", "Street Lighting",
		[]string{"Shielded Luminaires", "Colour of Street Lamps", "Dimming Schedules", "Lamps and Road Safety", "Festival Lights"}},
	{"sky", "Physical Sciences", "Lighting Engineering", "Instruments",
		[]string{"Rooftop Photometers", "All-Sky Imaging", "Balloon-Borne Sensors", "Low-Noise Detectors"}},
	{"sleep", "Health Sciences", "Sleep Research", "Sleep Physiology",
		[]string{"Melatonin Onset", "Short Naps", "Snoring and Its Listeners", "Body Temperature at Night", "The Second Sleep"}},
	{"sleep", "Health Sciences", "Sleep Research", "Dream Studies",
		[]string{"Dream Recall", "Lucid Dreaming", "Dreams of Flying", "Nightmares in Childhood"}},
	{"sleep", "Health Sciences", "Night Work", "Shift Work",
		[]string{"Circadian Phase of Shift Workers", "Bakers and Early Hours", "Light at the Workplace", "Night Trains and Rest"}},
	{"sleep", "Health Sciences", "Night Work", "Vigilance",
		[]string{"Reaction Time Before Dawn", "Coffee and Alertness", "Keeping Watch at Sea"}},
	{"lore", "Social Sciences", "Cultures of the Night", "Night in the City",
		[]string{"Night Watchmen", "Midnight Markets", "Curfew Bells", "Histories of Street Lighting"}},
	{"lore", "Social Sciences", "Cultures of the Night", "Songs and Stories",
		[]string{"Lullabies", "Ghost Stories", "Shadow Theatre", "Bedtime Reading"}},
	{"lore", "Social Sciences", "Heritage", "Star Lore",
		[]string{"Folk Names of Stars", "Almanacs and Moon Calendars", "Lighthouse Heritage", "Lantern Festivals"}},
}

// newTopics returns the catalogue. Its hierarchy's IDs are strings of digits:
// domain 1, field 11, subfield 1101.
func newTopics() []topic {
	var all []topic
	domains, fieldsOf, subfieldsOf := map[string]string{}, map[string]string{}, map[string]int{}
	perDomain := map[string]int{}
	for _, b := range branches {
		if domains[b.domain] == "" {
			domains[b.domain] = strconv.Itoa(len(domains) + 1)
		}
		if fieldsOf[b.field] == "" {
			perDomain[b.domain]++
			fieldsOf[b.field] = domains[b.domain] + strconv.Itoa(perDomain[b.domain])
		}
		subfieldsOf[b.field]++
		subfieldID := fieldsOf[b.field] + "0" + strconv.Itoa(subfieldsOf[b.field])
		for _, name := range b.topics {
			all = append(all, topic{
				number: len(all), name: name, area: b.area,
				subfield: b.subfield, field: b.field, domain: b.domain,
				subfieldID: subfieldID, fieldID: fieldsOf[b.field], domainID: domains[b.domain],
			})
		}
	}
	return all
}

func (t topic) id() string { return "T" + strconv.Itoa(90001+t.number) }

func (t topic) doc() bson.D {
	d := newDice("topic " + t.name)
	return bson.D{
		{Key: "_id", Value: objectID("catalog_topics", t.number)},
		{Key: "id", Value: t.id()},
		{Key: "name", Value: t.name},
		{Key: "description", Value: t.description(d)},
		{Key: "keywords", Value: array(t.keywords(d))},
		{Key: "subfield_id", Value: t.subfieldID},
		{Key: "subfield", Value: t.subfield},
		{Key: "field_id", Value: t.fieldID},
		{Key: "field", Value: t.field},
		{Key: "domain_id", Value: t.domainID},
		{Key: "domain", Value: t.domain},
	}
}

func (t topic) description(d dice) string {
	return pick(d, []string{"Work on ", "Studies of ", "Methods and findings around "}) + strings.ToLower(t.name) +
		pick(d, []string{", from field notes to models", ", with long series of nights", ", across disciplines", ", in the laboratory and outdoors"}) +
		", within " + strings.ToLower(t.subfield) + "."
}

func (t topic) keywords(d dice) []string {
	words := []string{strings.ToLower(t.name)}
	return append(words, some(d, d.between(2, 4), vocabulary[t.area]["keyword"])...)
}

// topicWithoutText is in the catalogue with a bare name, as some are, and under
// a subfield whose ID is no number.
func topicWithoutText() bson.D {
	return bson.D{
		{Key: "_id", Value: objectID("catalog_topics", 999)},
		{Key: "id", Value: "T90999"},
		{Key: "name", Value: "Silence"},
		{Key: "keywords", Value: bson.A{}},
		{Key: "subfield_id", Value: "41-S"},
		{Key: "subfield", Value: "Quiet"},
		{Key: "field_id", Value: "41"},
		{Key: "field", Value: "Cultures of the Night"},
		{Key: "domain_id", Value: "4"},
		{Key: "domain", Value: "Social Sciences"},
	}
}

// assignment is a topic given to an activity, and how sure the giver was.
type assignment struct {
	topic topic
	score float64
}

// assigned returns up to three topics of the area, the surest first.
func assigned(d dice, topics []topic, area string) []assignment {
	var near []topic
	for _, t := range topics {
		if t.area == area {
			near = append(near, t)
		}
	}
	chosen := some(d, d.between(1, 3), near)
	if len(chosen) == 3 && d.chance(30) {
		chosen[2] = pick(d, topics) // now and then something from elsewhere
		if chosen[2].number == chosen[0].number || chosen[2].number == chosen[1].number {
			chosen = chosen[:2]
		}
	}
	score := d.decimals(0.62, 0.99, 10_000)
	all := make([]assignment, len(chosen))
	for i, t := range chosen {
		all[i] = assignment{t, score}
		score = d.decimals(score-0.12, score-0.001, 10_000)
	}
	return all
}

// stored returns the assignment as an activity holds it, hierarchy and all.
func (a assignment) stored() bson.D {
	t := a.topic
	return bson.D{
		{Key: "id", Value: t.id()},
		{Key: "name", Value: t.name},
		{Key: "score", Value: a.score},
		{Key: "subfield_id", Value: t.subfieldID},
		{Key: "subfield", Value: t.subfield},
		{Key: "field_id", Value: t.fieldID},
		{Key: "field", Value: t.field},
		{Key: "domain_id", Value: t.domainID},
		{Key: "domain", Value: t.domain},
		{Key: "path", Value: t.domain + " → " + t.field + " → " + t.subfield},
	}
}
