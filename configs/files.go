package configs

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"vitrine/configs/regular"
)

// MostCatalogue is how many bytes catalog.file may have: ten times the catalogue of OpenAlex. It is read record by
// record.
const MostCatalogue = 64 << 20

// CheckFiles returns an *Error for each file that a setting names and that cannot be read, joined: a server would do
// without what it holds, and nothing would say so.
//
// It runs before a start and before a reload. Between the check and the reading a file may still go away; then the
// reader of that file reports it.
func (c Config) CheckFiles() error {
	var mistakes []*Error
	for i := range settings {
		s := &settings[i]
		if !slices.Contains(strings.Fields(s.Check), "file") {
			continue
		}
		most := int64(regular.Most)
		if s.Path == "catalog.file" {
			most = MostCatalogue
		}
		for path, name := range texts(s.Path, s.field(&c)) {
			if err := regular.Check(name, most); err != nil {
				mistakes = append(mistakes, c.mistake(path, name+": "+err.Error()))
			}
		}
	}
	return join(mistakes)
}

// texts returns the texts of a setting that are not empty, by their paths: its own, or those of the entries of a map.
func texts(path string, v reflect.Value) map[string]string {
	all := map[string]string{path: ""}
	if v.Kind() == reflect.Map {
		for _, name := range v.MapKeys() {
			all[path+"."+name.String()] = v.MapIndex(name).String()
		}
	} else {
		all[path] = v.String()
	}
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}
