package rules

// The names of the views that code refers to. Package views is the catalogue of all.
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
