package page

import (
	"strconv"
	"strings"
	"time"
)

// language is one of those that our texts are written in, and a column of their table.
type language int

const (
	english language = iota
	german
)

// languageOf returns the language for a code such as "de" or "de-AT"; English for any but German.
func languageOf(code string) language {
	if code == "de" || strings.HasPrefix(code, "de-") {
		return german
	}
	return english
}

// code returns the value for the attribute lang.
func (l language) code() string { return [...]string{"en", "de"}[l] }

// text returns a text of the table, or its name where there is none.
func (l language) text(name string) string {
	if text, ok := table[name]; ok {
		return text[l]
	}
	return name
}

// table has our texts, by name.
var table = map[string][2]string{
	"abstract":  {"Abstract", "Zusammenfassung"},
	"any":       {"any", "alle"},
	"apply":     {"Show", "Anzeigen"},
	"as-of":     {"As of ", "Stand: "},
	"authors":   {"People", "Personen"},
	"bibtex":    {"BibTeX", "BibTeX"},
	"copied":    {"Copied", "Kopiert"},
	"copy":      {"Copy", "Kopieren"},
	"details":   {"Details", "Details"},
	"empty":     {"Nothing was found.", "Nichts gefunden."},
	"export":    {"Export", "Export"},
	"failed":    {"The list cannot be loaded now.", "Die Liste lässt sich gerade nicht laden."},
	"filters":   {"Filters in use", "Aktive Filter"},
	"first":     {"First", "Erste"},
	"group":     {"Group by", "Gruppieren nach"},
	"home":      {"Start", "Startseite"},
	"languages": {"Languages", "Sprachen"},
	"last":      {"Last", "Letzte"},
	"limit":     {"Number of entries", "Anzahl"},
	"lists":     {"All lists", "Alle Listen"},
	"next":      {"Next", "Nächste"},
	"pages":     {"Pages", "Seiten"},
	"part-of":   {"In these lists", "In diesen Listen"},
	"places":    {"Overview", "Übersicht"},
	"prev":      {"Previous", "Vorige"},
	"remove":    {"remove", "entfernen"},
	"reset":     {"Reset all", "Alle zurücksetzen"},
	"search":    {"Search", "Suche"},
	"skip":      {"Skip to the content", "Zum Inhalt springen"},
	"sort":      {"Sort by", "Sortieren nach"},

	"start":     {"Public lists", "Öffentliche Listen"},
	"about":     {"Publications, projects, people and events as lists for your own pages: as HTML, in a page of their own, as a feed, or as a file for a reference manager.", "Publikationen, Projekte, Personen und Veranstaltungen als Listen für die eigenen Seiten: als HTML, als ganze Seite, als Feed oder als Datei für die Literaturverwaltung."},
	"api":       {"Vitrine", "Vitrine"},
	"api-about": {"The read API of a research institute.", "Die Lese-API eines Forschungsinstituts."},
	"builder":   {"Put a list on a page", "Eine Liste einbinden"},
	"choose":    {"Choose a list and what is in it. The snippets below change with it.", "Liste und Inhalt auswählen. Die Schnipsel darunter ändern sich mit."},
	"list":      {"List", "Liste"},
	"words":     {"Words", "Wörter"},
	"preview":   {"Preview", "Vorschau"},
	"years":     {"Entries per year", "Einträge pro Jahr"},
	"snippets":  {"Snippets", "Schnipsel"},
	"docs":      {"Documentation of the API", "Dokumentation der API"},
	"programs":  {"For programs", "Für Programme"},

	"year": {"Year", "Jahr"}, "type": {"Type", "Art"}, "subtype": {"Kind", "Unterart"}, "unit": {"Unit", "Einheit"},
	"person": {"Person", "Person"}, "project": {"Project", "Projekt"}, "topic": {"Topic", "Thema"},

	"sort-year": {"Year, oldest first", "Jahr, älteste zuerst"}, "sort--year": {"Year, newest first", "Jahr, neueste zuerst"},
	"sort-title": {"Title", "Titel"}, "sort-type": {"Type", "Art"}, "sort-author": {"Author", "Name"}, "sort-relevance": {"Relevance", "Relevanz"},
	"group-": {"as in the list", "wie in der Liste"}, "group-none": {"nothing", "nichts"}, "group-year": {"Year", "Jahr"}, "group-type": {"Type", "Art"},
	"group-subtype": {"Kind", "Unterart"}, "group-person": {"Person", "Person"},
}

// number writes a count with its digits in groups of three.
func (l language) number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + [...]string{",", "."}[l] + digits[i:]
	}
	return digits
}

// entries says how many entries there are.
func (l language) entries(n int) string {
	one, many := [...]string{" entry", " Eintrag"}[l], [...]string{" entries", " Einträge"}[l]
	if n == 1 {
		return l.number(n) + one
	}
	return l.number(n) + many
}

// shown says which entries of how many a page of a list has.
func (l language) shown(list *List, items int) string {
	switch first := max(list.Page-1, 0)*list.Limit + 1; {
	case list.Count == 0:
		return l.text("empty")
	case items == 0 || items >= list.Count:
		return l.entries(list.Count)
	case items == 1:
		return l.entries(list.Count) + ", " + l.number(first)
	default:
		return l.entries(list.Count) + ", " + l.number(first) + "–" + l.number(first+items-1)
	}
}

// page says which page of how many is shown.
func (l language) page(n, of int) string {
	return [...]string{"Page ", "Seite "}[l] + l.number(n) + [...]string{" of ", " von "}[l] + l.number(of)
}

// date writes a day.
func (l language) date(t time.Time) string {
	if l == german {
		return strconv.Itoa(t.Day()) + ". " + germanMonths[t.Month()-1] + " " + strconv.Itoa(t.Year())
	}
	return t.Format("2 January 2006")
}

// germanMonths are the names of the months.
var germanMonths = [...]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"}
