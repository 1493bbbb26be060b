package multiply

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// editionMark stands before the number that Edit gives a title.
const editionMark = ", edition "

// Edit returns a record as somebody would leave it who corrected its title: with
// the serial number at its end, and without what was rendered from the old one.
func Edit(raw bson.Raw, serial int) (bson.Raw, error) {
	var record bson.D
	if err := bson.Unmarshal(raw, &record); err != nil {
		return nil, fmt.Errorf("multiply: edit: %w", err)
	}
	title, _, _ := strings.Cut(str(value(record, "title")), editionMark)
	put(record, "title", title+editionMark+strconv.Itoa(serial))
	record = slices.DeleteFunc(record, func(e bson.E) bool { return e.Key == "rendered" })
	edited, err := bson.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("multiply: edit: %w", err)
	}
	return edited, nil
}
