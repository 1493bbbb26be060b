package raw_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// TestFlagOf reads every form in which a flag is stored, and compares with a filter on the same values.
func TestFlagOf(t *testing.T) {
	decimal, err := bson.ParseDecimal128("1.0")
	if err != nil {
		t.Fatal(err)
	}
	yes := filter.OneOf("f", true, 1, "1", "true")
	for want, values := range map[raw.Flag][]any{
		raw.FlagMissing: {nil, bson.Undefined{}, ""},
		raw.FlagNo:      {false, int32(0), int64(0), 0.0, "0", "false"},
		raw.FlagYes:     {true, int32(1), int64(1), 1.0, decimal, "1", "true"},
		raw.FlagUnclear: {2, -1, 0.5, "yes", "TRUE", " true", "False", bson.D{}, bson.D{{Key: "a", Value: true}}},
	} {
		for _, value := range values {
			doc, err := bson.Marshal(bson.D{{Key: "f", Value: value}})
			if err != nil {
				t.Fatal(err)
			}
			got := raw.FlagOf(raw.Get(doc, "f"))
			if got != want {
				t.Errorf("%T %v: got %d, want %d", value, value, got, want)
			}
			if on, err := yes.Match(doc); err != nil || on != (got == raw.FlagYes) {
				t.Errorf("%T %v: the filter says %v, %v", value, value, on, err)
			}
		}
	}
	if got := raw.FlagOf(bson.RawValue{}); got != raw.FlagMissing {
		t.Errorf("missing: got %d", got)
	}
	list, err := bson.Marshal(bson.D{{Key: "f", Value: bson.A{true}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := raw.FlagOf(raw.Get(list, "f")); got != raw.FlagUnclear {
		t.Errorf("a list: got %d", got)
	}
}

func TestFlagDefaults(t *testing.T) {
	for flag, want := range map[raw.Flag][2]bool{
		raw.FlagMissing: {false, true}, raw.FlagNo: {false, false}, raw.FlagYes: {true, true},
		raw.FlagUnclear: {true, false},
	} {
		if got := [2]bool{flag.Hides(), flag.Holds()}; got != want {
			t.Errorf("flag %d: hides, holds %v, want %v", flag, got, want)
		}
	}
}
