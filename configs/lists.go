package configs

// Lists are the public lists. They show records that Public matches, and nothing else.
type Lists struct {
	// Whether there are lists. Off: `/lists` and `/items` are not found, and `/` has no start page.
	Enabled bool `yaml:"enabled" default:"true"`
	// Which records are public: a filter, by which rows are marked when they are made. Projects must also have `public: true`, and persons must not have `hide: true`.
	Public string `yaml:"public" default:"{\"hide\": {\"$ne\": true}, \"workflow.status\": {\"$nin\": [\"rejected\", \"in-review\"]}}" check:"required filter"`
	// Address of this server as clients see it, `https://HOST[/PATH]`, for the absolute URLs in feeds, exports and JSON-LD. Empty: the address that the request was sent to.
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
	// Title of the list, by language.
	Title Titles `yaml:"title"`
	// View that is listed: `activities`, `projects`, `persons` or `events`.
	View string `yaml:"view" default:"activities" check:"required oneof:activities,projects,persons,events"`
	// Filter that selects among the public records, as the API reads it. Empty: all.
	Filter string `yaml:"filter" check:"filter"`
	// Default grouping of entries: `none`, `year`, `type`, `subtype` or `person`.
	Group string `yaml:"group" default:"none" check:"required oneof:none,year,type,subtype,person"`
	// Which citation of an activity is shown: `web`, with links, or `print`.
	Style string `yaml:"style" default:"web" check:"required oneof:web,print"`
	// Default order: `year`, `title`, `type` or `author`; a `-` in front reverses it.
	Sort string `yaml:"sort" default:"-year" check:"required oneof:year,-year,title,-title,type,-type,author,-author"`
	// Default number of entries on a page, up to 200.
	PageSize int `yaml:"page_size" default:"25" check:"positive page"`
	// Facets that are shown, in this order: `year`, `type`, `subtype`, `unit`, `person`, `project`, `topic`.
	Facets []string `yaml:"facets" default:"year, type" check:"oneof:year,type,subtype,unit,person,project,topic"`
	// Address of the page that shows the list, with `{page}` in it: the links of the pager lead there. Empty: they lead to the list itself.
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
