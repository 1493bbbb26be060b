package rules

// The views, by the name they have in configuration, on the command line and in
// the metrics. The side collection of a view is "view_" + its name.
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
