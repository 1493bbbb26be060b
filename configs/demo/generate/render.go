package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// renderActivities gives those activities that have been shown before the
// representations that were stored then; the others are left to be rendered.
func (in *institute) renderActivities() {
	for _, a := range in.activities {
		if a.rendered {
			a.renderedForm = a.render()
		}
	}
}

// render returns the representations as they are stored.
func (a *activity) render() bson.D {
	title := a.renderedTitle
	if title == "" {
		title = a.title
	}
	venue, source := "", ""
	if a.venueName != "" {
		venue = " <i>" + html.EscapeString(a.venueName) + "</i>"
		source = strings.TrimSuffix(venue+" "+a.pages, " ") + "."
	}
	year := strconv.Itoa(a.day[0])
	web := fmt.Sprintf("<a class='colorless' href='/activities/view/%s'>%s</a><br><small class='text-muted d-block'>%s%s (%s)</small>",
		a.id().Hex(), title, byline(a.authors, linked), venue, year)
	if a.hostile {
		web += `<img src=x onerror="alert(1)"><a href="javascript:alert(2)" onclick="alert(3)">more</a><script>alert(4)</script>`
	}
	return bson.D{
		{Key: "print", Value: fmt.Sprintf("%s (%s) %s%s", byline(a.authors, plain), year, sentence(title), source)},
		{Key: "web", Value: web},
		{Key: "icon", Value: fmt.Sprintf("<span data-toggle='tooltip' data-title='%s'><i class='ph text-%s %s'></i></span>", a.kind.sub, a.kind.typ, a.kind.icon)},
		{Key: "type", Value: a.kind.label},
		{Key: "subtype", Value: a.kind.sub},
		{Key: "title", Value: title},
		{Key: "authors", Value: byline(a.authors, plain)},
		{Key: "editors", Value: byline(a.editors, plain)},
		{Key: "users", Value: array(users(a.authors, a.editors))},
		{Key: "quarter", Value: a.quarter()},
	}
}

// sentence ends a title with a full stop, unless it ends with a mark of its own.
func sentence(title string) string {
	if strings.HasSuffix(title, "?") || strings.HasSuffix(title, "!") {
		return title
	}
	return title + "."
}

// byline joins names, each written by write.
func byline(people []author, write func(author) string) string {
	names := make([]string, len(people))
	for i, p := range people {
		names[i] = write(p)
	}
	return strings.Join(names, ", ")
}

// plain writes a name, bold if it is one of the institute's.
func plain(a author) string {
	name := html.EscapeString(a.last) + ",&nbsp;" + html.EscapeString(initials(a.first))
	if a.own() {
		return "<b>" + name + "</b>"
	}
	return name
}

// linked writes a name with a link to its profile.
func linked(a author) string {
	if a.user == "" {
		return plain(a)
	}
	return "<a href='/profile/" + a.user + "'>" + plain(a) + "</a>"
}

func users(groups ...[]author) []string {
	all := []string{}
	for _, people := range groups {
		for _, p := range people {
			if p.user != "" {
				all = append(all, p.user)
			}
		}
	}
	return all
}

// quarter returns the quarters that the activity took: 2023Q1, 2023Q1 - Q3,
// 2023Q4 - 2024Q1, 2023Q1 - today.
func (a *activity) quarter() string {
	from := quarterOf(a.start)
	if a.end == "" {
		return from + " - today"
	}
	to := quarterOf(a.end)
	switch {
	case to == from:
		return from
	case to[:4] == from[:4]:
		return from + " - " + to[4:]
	default:
		return from + " - " + to
	}
}

func quarterOf(date string) string {
	day := dayOf(date)
	return strconv.Itoa(day[0]) + "Q" + strconv.Itoa((day[1]+2)/3)
}
