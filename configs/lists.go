package configs

// Lists are the public lists. They show records that Public matches, and nothing else.
type Lists struct {
	Enabled         bool
	Public, BaseURL string
	Named           map[string]*NamedList
	Links           ListLinks
}

// ListLinks are templates of links: a web address, or a path from the root of the page's site, with `{id}` in it.
type ListLinks struct {
	Activity, Person, Project string
}

// NamedList is a list with a name of its own.
type NamedList struct {
	Title                            Titles
	View, Filter, Group, Style, Sort string
	PageSize                         int
	Facets                           []string
	PageURL                          string
	Links                            ListLinks
}

// Titles is a title by language.
type Titles struct {
	En, De string
}

// In returns the title in a language, or else in another one; "" if there is none.
func (t Titles) In(lang string) string {
	if lang == "de" && t.De != "" || t.En == "" {
		return t.De
	}
	return t.En
}
