package cite_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vitrine/rules"
	"vitrine/rules/cite"
)

// TestStoredDate: a work has one date in any form, and a point in time its day in the zone of the site.
func TestStoredDate(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	honolulu, err := time.LoadLocation("Pacific/Honolulu")
	require.NoError(t, err)
	const newYear = `{"$date": "2023-12-31T23:00:00Z"}`
	for _, tt := range []struct {
		view, row string
		zone      *time.Location
		from, to  string
	}{
		{rules.ViewActivities, `"start_date": ` + newYear + `, "end_date": ` + newYear, berlin, "2024-01-01", ""},
		{rules.ViewActivities, `"start_date": ` + newYear, time.UTC, "2023-12-31", ""},
		{rules.ViewActivities, `"year": 2024, "month": 1, "start_date": ` + newYear, berlin, "2024-01-01", ""},
		{rules.ViewActivities, `"year": 2024, "month": 1, "start_date": ` + newYear, time.UTC, "2024-01", ""},
		{rules.ViewActivities, `"year": ` + newYear, berlin, "2024-01-01", ""},
		{rules.ViewActivities, `"start_date": "2023-12-31T23:00:00Z"`, berlin, "2023-12-31", ""},
		{rules.ViewEvents, `"start": ` + newYear + `, "end": {"$date": "2024-01-02T23:00:00Z"}`, berlin, "2024-01-01",
			"2024-01-03"},
		{rules.ViewProjects,
			`"start_date": {"$date": "2024-01-01T04:00:00Z"}, "end_date": {"$date": "2025-01-01T04:00:00Z"}`,
			honolulu,
			"2023-12-31", "2024-12-31"},
		{rules.ViewActivities, `"year": "2021a", "month": "Aug."`, time.UTC, "2021-08", ""},
		{rules.ViewActivities, `"year": "August 2021"`, time.UTC, "2021-08", ""},
		{rules.ViewActivities, `"year": "c2021", "month": "8", "day": "1"`, time.UTC, "2021-08-01", ""},
		{rules.ViewActivities, `"year": "in press", "start_date": "soon", "start": {"year": 2021, "month": 8}`,
			time.UTC, "2021-08", ""},
		{rules.ViewActivities, `"year": "2019-2020", "start_date": "2020-05-01"`, time.UTC, "2019", ""},
		{rules.ViewActivities, `"start_date": "01.08.2021", "end_date": "3. August 2021"`, time.UTC, "2021-08-01",
			"2021-08-03"},
		{rules.ViewActivities, `"year": 21`, time.UTC, "", ""},
	} {
		m, it := builtIn(t).View(tt.view).In(tt.zone), &cite.Item{}
		row := doc(t, `{"_id": 1, `+tt.row+`}`)
		m.Read(row, it)
		assert.Equal(t, [2]string{tt.from, tt.to}, [2]string{it.Date.String(), it.End.String()}, "%s in %s", tt.row,
			tt.zone)
		assert.Equal(t, it.Date.Year, m.Cited(row, nil).Year, tt.row)
	}
	assert.NotEqual(t, builtIn(t).Fingerprint, builtIn(t).In(berlin).Fingerprint)
}
