package main

import "go.mongodb.org/mongo-driver/v2/bson"

// plantOddities puts into single activities what real databases hold against
// all expectation. Each is at a fixed place; the test of the folder counts them. None of
// them leads a list: a year as text, which MongoDB sorts before all numbers, would.
func (in *institute) plantOddities() {
	every := func(first, step int, change func(*activity)) {
		for i := first; i < len(in.activities); i += step {
			change(in.activities[i])
		}
	}
	every(7, 70, func(a *activity) { // a script in the title, known markup beside it
		a.renderedTitle = a.title
		a.title += " <sub>2</sub> & <script>alert(1)</script>"
	})
	every(41, 300, func(a *activity) { a.rendered, a.hostile = true, true })
	every(13, 60, func(a *activity) { a.year = nil })
	every(17, 60, func(a *activity) { a.authors = nil; a.belong(); a.topics = nil })
	every(19, 60, func(a *activity) { a.units = nil })
	every(23, 75, func(a *activity) { a.hide = true })
	every(29, 100, func(a *activity) { a.mark(1) })
	every(31, 100, func(a *activity) { a.mark("1") })
	every(37, 150, func(a *activity) { a.title = "“" + a.title + "” – 100 % dunkel?! (C++ & [x] $5.00 ^\\^)" })
	every(43, 200, func(a *activity) { a.title, a.rendered = "", false })
	every(47, 200, func(a *activity) { a.projects = bson.A{} })
	every(53, 200, func(a *activity) { a.doi, a.pubmed, a.link = "", "", "javascript:alert(document.cookie)" })
	in.handPickedSpectrum()
}

// mark writes the affiliation of authors in an old way.
func (a *activity) mark(old any) {
	for i := range a.authors {
		if a.authors[i].own() {
			a.authors[i].affiliated = old
		}
	}
}

// handPickedSpectrum gives many activities one topic with all scores around
// what counts as high, and one activity the same topic twice.
func (in *institute) handPickedSpectrum() {
	common := in.topics[0]
	for i := 5; i < len(in.activities); i += 50 {
		a := in.activities[i]
		if len(a.topics) > 0 {
			a.topics = []assignment{{common, float64(7900+40*(i/50)) / 10_000}}
		}
	}
	for _, a := range in.activities {
		if len(a.topics) == 3 {
			a.topics[2].topic = a.topics[0].topic
			break
		}
	}
}
