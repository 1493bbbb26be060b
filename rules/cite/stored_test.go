package cite

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/rules/mark"
)

// unstored are the fields of items that are not in marks as such: see Item.pass.
var unstored = []string{"ID", "View", "Forms", "Projects", "User", "ORCID", "Units", "kind", "values"}

// fill sets all fields of a value, also those of its parts, to values that differ.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem(); v.Kind() { // also if it is not exported
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Int:
		v.SetInt(int64(1 + *n%12)) // of a date, too
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a field has the type %s", v.Type())
	}
}

// stored returns a row with the item in its mark.
func stored(t testing.TB, m *Mapping, it *Item) bson.Raw {
	t.Helper()
	row, err := bson.Marshal(bson.D{
		{Key: "_id", Value: "a"}, {Key: "title", Value: "of the record"},
		{Key: mark.Field, Value: bson.D{{Key: "item", Value: bson.Binary{Data: m.encode(it)}}}},
	})
	require.NoError(t, err)
	return row
}

func loaded(t testing.TB) *Mapping {
	t.Helper()
	m, err := Load(configs.CiteRules())
	require.NoError(t, err)
	return m
}

// TestPass: a mark has every field of an item, alone and among the others, and nothing of the item read before.
func TestPass(t *testing.T) {
	m := loaded(t)
	whole, n := Item{ID: "a", View: m.view}, 0
	whole.be(m.kinds[7])
	var names []string
	for i := range reflect.TypeFor[Item]().NumField() {
		field := reflect.TypeFor[Item]().Field(i)
		if slices.Contains(unstored, field.Name) {
			continue
		}
		names = append(names, field.Name)
		fill(t, reflect.ValueOf(&whole).Elem().Field(i), &n)
		one := Item{ID: "a", View: m.view}
		one.be(m.kinds[7])
		fill(t, reflect.ValueOf(&one).Elem().Field(i), &n)
		check(t, m, &one, field.Name)
	}
	require.Greater(t, len(names), 40)
	check(t, m, &whole, "all fields")
	empty := Item{ID: "a", View: m.view}
	empty.be(m.fallback)
	check(t, m, &empty, "no field")
}

func check(t *testing.T, m *Mapping, want *Item, name string) {
	t.Helper()
	var got Item
	for range 2 {
		m.Read(stored(t, m, want), &got)
		for _, all := range []any{&got.Authors, &got.Editors, &got.Keywords, &got.Projects, &got.badges} {
			if v := reflect.ValueOf(all).Elem(); v.Len() == 0 {
				v.SetZero() // an empty list is none
			}
		}
		assert.Equal(t, *want, got, name)
		fill(t, reflect.ValueOf(&got.Authors).Elem(), new(int)) // which the next item must not have
	}
}

// TestStoredUnder: items that were stored under other rules, and broken ones, are made anew.
func TestStoredUnder(t *testing.T) {
	m := loaded(t)
	whole, n := Item{}, 0
	for i := range reflect.TypeFor[Item]().NumField() {
		if !slices.Contains(unstored, reflect.TypeFor[Item]().Field(i).Name) {
			fill(t, reflect.ValueOf(&whole).Elem().Field(i), &n)
		}
	}
	whole.be(m.kinds[7])
	row := stored(t, m, &whole)
	var it Item
	for _, other := range []*Mapping{m.Hiding("title"), m.Hiding("").In(m.zone), m.Hiding("title").View("projects")} {
		other.Read(row, &it)
		assert.Equal(t, "of the record", it.Text)
	}
	whole.Authors = whole.Authors[:1]
	data := m.encode(&whole)
	for size := range data {
		broken, err := bson.Marshal(bson.D{
			{Key: "title", Value: "of the record"},
			{Key: mark.Field, Value: bson.D{{Key: "item", Value: bson.Binary{Data: data[:size]}}}},
		})
		require.NoError(t, err)
		m.Read(broken, &it) // at the border between two fields it is an item with fewer fields
	}
}

// FuzzDecode: no item in a mark makes a reader fail.
func FuzzDecode(f *testing.F) {
	m := loaded(f)
	var it Item
	m.Make(nil, nil, &it)
	f.Add(m.encode(&it)[4:])
	f.Fuzz(func(t *testing.T, data []byte) {
		row, err := bson.Marshal(bson.D{{Key: mark.Field, Value: bson.D{
			{Key: "item", Value: bson.Binary{Data: slices.Concat(m.encode(&Item{kind: m.fallback})[:4], data)}},
		}}})
		require.NoError(t, err)
		var it Item
		m.Read(row, &it)
		_, _ = it.Paragraphs(), m.Badges(&it, "en")
		_ = AppendCSL(AppendBibTeX(nil, &it, true), &it)
	})
}
