package rules

// The names of the views in the configuration, on the command line and in the metrics. The side collection of a view
// is "view_" + its name.
const (
	ViewActivities = "activities"
	ViewPersons    = "persons"
	ViewProjects   = "projects"
	ViewProposals  = "proposals"
	ViewJournals   = "journals"
	ViewEvents     = "events"
	ViewDeadlines  = "deadlines"
	ViewUserUnits  = "user_units"
	ViewSpectrum   = "spectrum"
)

// View describes a view.
type View struct {
	Name    string
	Source  string // collection from whose records the rows are made
	Derived bool   // rows differ from the source's records: their filters cannot run on it
	Order   string // sorts rows, descending, before _id; if empty, _id alone
}

// Views lists all views, in the order in which they are built.
func Views() []View {
	return []View{
		{Name: ViewPersons, Source: "persons"},
		{Name: ViewUserUnits, Source: "persons", Derived: true},
		{Name: ViewActivities, Source: "activities", Order: "year"},
		{Name: ViewProjects, Source: "projects", Order: "year"},
		{Name: ViewProposals, Source: "proposals", Order: "year"},
		{Name: ViewJournals, Source: "journals", Order: "year"},
		{Name: ViewEvents, Source: "conferences", Order: "start"},
		{Name: ViewDeadlines, Source: "deadlines"},
		{Name: ViewSpectrum, Source: "activities", Derived: true, Order: "count"},
	}
}

// ViewNamed returns the view with a name. ok is false if there is none.
func ViewNamed(name string) (v View, ok bool) {
	for _, v := range Views() {
		if v.Name == name {
			return v, true
		}
	}
	return View{}, false
}
