package main

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// activity is anything that people of the institute did and wrote down.
type activity struct {
	number        int
	kind          kind
	title         string
	authors       []author
	editors       []author
	year          any // int, or nil for none
	day           [3]int
	start, end    string // end may be empty: still running
	units         any    // bson.A, or nil for a stored null
	affiliated    bool
	createdBy     string
	venue         fields // what depends on the kind: journal, book, conference, …
	venueName     string
	pages         string
	doi, pubmed   string
	link          string
	topics        []assignment
	houseTopics   []string
	tags          []string
	status        string
	projects      any // a name, or a bson.A of IDs; nil for none
	hide          bool
	rendered      bool
	hostile       bool // its stored rendering tries to run a script
	renderedTitle string
	renderedForm  bson.D
}

// author is one of those who did it.
type author struct {
	first, last string
	user        string // empty for people from elsewhere
	affiliated  any    // true or false; in old records 1 or "1"
	units       []string
}

// own tells that the author belongs to the institute.
func (a author) own() bool { return a.affiliated == true || a.affiliated == 1 || a.affiliated == "1" }

func (a *activity) id() bson.ObjectID { return objectID("activities", a.number) }

func (a *activity) doc() bson.D {
	f := &fields{}
	f.add("_id", a.id())
	f.add("type", a.kind.typ)
	f.add("subtype", a.kind.subtype)
	f.add("title", a.title)
	f.add("authors", contributors(a.authors))
	if len(a.editors) > 0 {
		f.add("editors", contributors(a.editors))
	}
	if a.year != nil {
		f.add("year", a.year)
	}
	f.add("month", a.day[1])
	f.add("day", a.day[2])
	f.add("start_date", a.start)
	f.add("end_date", orNull(a.end))
	f.add("units", a.units)
	f.add("affiliated", a.affiliated)
	f.add("created", date(min(a.day[0]+1, 2026), 1, 5))
	f.add("created_by", a.createdBy)
	addIf(f, "doi", a.doi)
	addIf(f, "pubmed", a.pubmed)
	addIf(f, "link", a.link)
	f.d = append(f.d, a.venue.d...)
	addIf(f, "pages", a.pages)
	a.addTopics(f)
	addList(f, "topics", a.houseTopics)
	addList(f, "tags", a.tags)
	if a.status != "" {
		f.add("workflow", bson.D{{Key: "status", Value: a.status}})
	}
	if a.projects != nil {
		f.add("projects", a.projects)
	}
	addIf(f, "hide", a.hide)
	if a.rendered {
		f.add("rendered", a.renderedForm)
	}
	return f.d
}

func (a *activity) addTopics(f *fields) {
	if len(a.topics) == 0 {
		return
	}
	var topics, spectrum bson.A
	for _, t := range a.topics {
		topics = append(topics, t.stored())
		spectrum = append(spectrum, bson.D{{Key: "display_name", Value: t.topic.name}, {Key: "score", Value: t.score}})
	}
	f.add("catalog", bson.D{{Key: "topics", Value: topics}})
	f.add("spectrum", spectrum)
}

// contributors returns authors or editors as they are stored.
func contributors(people []author) bson.A {
	all := bson.A{}
	for i, p := range people {
		position := "middle"
		switch i {
		case 0:
			position = "first"
		case len(people) - 1:
			position = "last"
		}
		f := &fields{}
		f.add("first", p.first)
		f.add("last", p.last)
		f.add("user", orNull(p.user))
		f.add("position", position)
		f.add("approved", true)
		f.add("affiliated", p.affiliated)
		f.add("aoi", p.own())
		addList(f, "units", p.units)
		all = append(all, f.d)
	}
	return all
}

// kind is a type and subtype of activity with what they are called and how
// many of them there are.
type kind struct {
	typ, subtype string
	label, sub   string
	icon         string
	count        int
	prefix       string // of the title
}

// kinds add up to 600.
var kinds = []kind{
	{"publication", "article", "Publications", "Journal article", "ph-newspaper", 170, ""},
	{"publication", "proceedings", "Publications", "Conference proceedings", "ph-newspaper", 90, ""},
	{"publication", "preprint", "Publications", "Preprint", "ph-newspaper", 40, ""},
	{"publication", "chapter", "Publications", "Book chapter", "ph-newspaper", 30, ""},
	{"publication", "book", "Publications", "Book", "ph-newspaper", 14, ""},
	{"lecture", "lecture", "Lectures", "Lecture", "ph-chalkboard-teacher", 80, ""},
	{"poster", "poster", "Posters", "Poster", "ph-presentation-chart", 50, "Poster: "},
	{"review", "review", "Reviews", "Peer review", "ph-article", 40, "Review of: "},
	{"software", "software", "Software & Data", "Software", "ph-code", 26, "Code & data for "},
	{"teaching", "course", "Teaching", "Course", "ph-student", 36, "Seminar — "},
	{"misc", "misc", "Miscellaneous", "Miscellaneous", "ph-shapes", 16, "Open Night: "},
	{"award", "award", "Awards", "Award", "ph-trophy", 8, "Golden Lantern for "},
}

// setDates sets the first and last day; a last day of zeros means it still runs.
func (a *activity) setDates(first, last [3]int) {
	a.day, a.year = first, first[0]
	a.start = date(first[0], first[1], first[2])
	a.end = ""
	if last != ([3]int{}) {
		a.end = date(last[0], last[1], last[2])
	}
}

// doiOf returns a DOI under the prefix for examples.
func doiOf(year, number int) string {
	return "10.5555/hins." + strconv.Itoa(year) + "." + strconv.Itoa(1000+number)
}
