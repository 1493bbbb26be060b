package configs

// Lists are the public lists. They show records that Public matches, and nothing else.
type Lists struct {
	// Whether there are lists. Off: `/`, `/lists` and `/items` are not found.
	Enabled bool `yaml:"enabled" default:"true"`
	// Which records are public: a filter, by which rows are marked when they are made. Projects must also have `public: true`, and persons must not have `hide: true`.
	Public string `yaml:"public" default:"{\"hide\": {\"$ne\": true}, \"workflow.status\": {\"$nin\": [\"rejected\", \"in-review\"]}}" check:"required filter"`
	// Address of this server as clients see it, `https://HOST[/PATH]`, for the absolute URLs in feeds, exports and JSON-LD. Empty: the one that a request asks for.
	BaseURL string `yaml:"base_url" check:"base"`
	// Lists with a name of their own, at `/lists/NAME`: by name, their settings. A name has small letters, digits and hyphens. Only a file can give them.
	Named map[string]*NamedList `yaml:"named"`
	// Where links in lists lead.
	Links ListLinks `yaml:"links"`
}

// ListLinks are templates of links: a web address, or a path from the root of the page's site, with `{id}` in it.
type ListLinks struct {
	// Link of an activity, by its `_id`. Empty: its DOI, or else its own page at `/items/{id}`. `none`: no link.
	Activity string `yaml:"activity" check:"link"`
	// Link of a person, by username. Empty: the person's list. `none`: no link.
	Person string `yaml:"person" check:"link"`
	// Link of a project, by name. Empty: the project's list. `none`: no link.
	Project string `yaml:"project" check:"link"`
}

// NamedList is a list with a name of its own.
type NamedList struct {
	// What the list is called, by language.
	Title Titles `yaml:"title"`
	// Whose rows are listed: `activities`, `projects`, `persons` or `events`.
	View string `yaml:"view" default:"activities" check:"required oneof:activities,projects,persons,events"`
	// Which of the public records are listed: a filter, as those of the API. Empty: all.
	Filter string `yaml:"filter" check:"filter"`
	// What entries are grouped by where a request does not say: `none`, `year`, `type`, `subtype` or `person`.
	Group string `yaml:"group" default:"none" check:"required oneof:none,year,type,subtype,person"`
	// Which citation of an activity is shown: `web`, with links, or `print`.
	Style string `yaml:"style" default:"web" check:"required oneof:web,print"`
	// Order where a request does not ask for one: `year`, `title`, `type` or `author`, downwards with a `-` before it.
	Sort string `yaml:"sort" default:"-year" check:"required oneof:year,-year,title,-title,type,-type,author,-author"`
	// Entries on a page, up to 200, where a request does not say how many.
	PageSize int `yaml:"page_size" default:"25" check:"positive page"`
	// Facets that are shown, in this order: `year`, `type`, `subtype`, `unit`, `person`, `project`, `topic`.
	Facets []string `yaml:"facets" default:"year, type" check:"oneof:year,type,subtype,unit,person,project,topic"`
	// Address of the page that the list is on, with `{page}` in it: the links of the pager lead there. Empty: to the list itself.
	PageURL string `yaml:"page_url" check:"pager"`
	// Where links in this list lead, instead of `lists.links`.
	Links ListLinks `yaml:"links"`
}

// Titles is a title by language.
type Titles struct {
	// Title in English.
	En string `yaml:"en"`
	// Title in German.
	De string `yaml:"de"`
}

// In returns the title in a language, or else in another one; "" if there is none.
func (t Titles) In(lang string) string {
	if lang == "de" && t.De != "" || t.En == "" {
		return t.De
	}
	return t.En
}
