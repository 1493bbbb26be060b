package api_test

import (
	"testing"

	"vitrine/proxy/proxytest"
)

// TestInStore runs the suites on answers with views that stay in the store: the answers do not
// depend on where the rows are.
func TestInStore(t *testing.T) {
	proxytest.InStore(t, map[string]func(*testing.T){
		"Golden":                          TestGolden,
		"DepartmentGolden":                TestDepartmentGolden,
		"HoldingsGolden":                  TestHoldingsGolden,
		"Formatted":                       TestFormatted,
		"FormattedCountsAnew":             TestFormattedCountsAnew,
		"PublicCast":                      TestPublicCast,
		"FundingNumbers":                  TestFundingNumbers,
		"OwnOnly":                         TestOwnOnly,
		"Search":                          TestSearch,
		"Figures":                         TestFigures,
		"Levenshtein":                     TestLevenshtein,
		"LevenshteinOfNothing":            TestLevenshteinOfNothing,
		"LevenshteinFollowsTheView":       TestLevenshteinFollowsTheView,
		"BracketReadings":                 TestBracketReadings,
		"ActivityLabelsInAnotherLanguage": TestActivityLabelsInAnotherLanguage,
		"Midnight":                        TestMidnight,
		"NewYear":                         TestNewYear,
		"WhoIsMeant":                      TestWhoIsMeant,
		"PersonsOfTheNextGeneration":      TestPersonsOfTheNextGeneration,
		"NewcomerAppearsInTheView":        TestNewcomerAppearsInTheView,
		"FieldsOfRecords":                 TestFieldsOfRecords,
		"IDs":                             TestIDs,
		"EveryPage":                       TestEveryPage,
		"NoPages":                         TestNoPages,
		"FilterForms":                     TestFilterForms,
		"WithoutRaw":                      TestWithoutRaw,
		"HiddenIsNoFilter":                TestHiddenIsNoFilter,
		"AllPersonsAreFound":              TestAllPersonsAreFound,
		"Sort":                            TestSort,
		"SortAsUsual":                     TestSortAsUsual,
		"Words":                           TestWords,
		"HiddenFieldsDoNotSort":           TestHiddenFieldsDoNotSort,
	})
}
