package compare

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// No rule that is built in accepts these relations. They are for rules of operators, who would otherwise have to accept
// any two values at a place.

// wrongParameter: the new answer is the error of a parameter, and names one that was asked for.
func wrongParameter(d Difference) bool {
	if d.Kind != Status || d.Path != "" || d.about == nil || d.Old != strconv.Itoa(http.StatusOK) ||
		d.New != strconv.Itoa(http.StatusBadRequest) {
		return false
	}
	_, new := d.about.both()
	says, is := new.wrongCall()
	return is && slices.ContainsFunc(slices.Collect(maps.Keys(d.about.asked().parameters())), func(name string) bool {
		return name != "" && strings.Contains(says, name)
	})
}

// wrongCall returns the message of an answer that is the error of a parameter, and has nothing else.
func (a Answer) wrongCall() (says string, is bool) {
	all := documents(a.Body)
	if len(all) != 1 || len(a.Body) > mostSpelled || a.Type != "application/json" {
		return "", false
	}
	e := decoded[struct {
		Status     int
		Count      *int
		Error, Msg string
	}](all[0])
	return e.Msg, e.Status == http.StatusBadRequest && e.Error == "WrongCall" && e.Count != nil && *e.Count == 0
}

// inElement matches the path of a member of an element of a list.
var inElement = regexp.MustCompile(`^(.*)\[\d+\]\.([^\[\]]+)$`)

// elementOf: the old side has the values of all elements of a list in each element; the new one has that of the element
// itself. The new values of all elements, in their order, have to be the old list.
func elementOf(d Difference) bool {
	found := inElement.FindStringSubmatch(d.Path)
	if found == nil || d.about == nil || len(d.was) == 0 || d.was[0] != '[' || len(d.was) > mostSpelled {
		return false
	}
	_, new := d.about.both()
	all := documents(new.Body)
	if len(all) != 1 {
		return false
	}
	elements := find(all[0], found[1], d.Row)
	if len(elements) == 0 || elements[0] != '[' || len(elements) > mostSpelled {
		return false
	}
	var values []string
	for _, one := range decoded[[]value](elements) {
		if v := find(one, "$."+found[2], ""); v != nil {
			values = append(values, show(v))
		}
	}
	var was []string
	for _, one := range decoded[[]value](d.was) {
		was = append(was, show(one))
	}
	return len(d.is) > 0 && slices.Equal(was, values)
}

// countOfList: the old side counts the rows of the page, the new one those of the list. Both whole lists agree.
func countOfList(d Difference) bool {
	if d.Kind != Count || d.Path != "$.count" || d.about == nil {
		return false
	}
	old, _ := d.about.both()
	return d.Old == strconv.Itoa(len(old.rows())) && d.about.wholesAgree(d.about.asked().offset() > 0) &&
		d.New == strconv.Itoa(d.about.whole())
}

// noRowsOf0: the old side has no rows for a limit of 0, where the new one has the whole list. Both whole lists agree.
func noRowsOf0(d Difference) bool {
	if d.about == nil || d.about.asked().parameter("limit") != "0" ||
		d.Path != "$.count" && (d.Kind != RowAdded || !listRow.MatchString(d.Path)) {
		return false
	}
	old, new := d.about.both()
	return old.rows() != nil && len(old.rows()) == 0 && d.about.wholesAgree(false) &&
		len(new.rows()) == d.about.whole() && (d.Kind != Count || d.New == strconv.Itoa(d.about.whole()))
}
