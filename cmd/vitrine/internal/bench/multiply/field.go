package multiply

import "go.mongodb.org/mongo-driver/v2/bson"

// value returns a field's value; nil where there is none.
func value(record bson.D, name string) any {
	for _, e := range record {
		if e.Key == name {
			return e.Value
		}
	}
	return nil
}

// put replaces a field's value; a field that is not there stays away.
func put(record bson.D, name string, v any) {
	for i := range record {
		if record[i].Key == name {
			record[i].Value = v
			return
		}
	}
}

// str returns a string; "" for anything else.
func str(v any) string {
	s, _ := v.(string)
	return s
}

// strs returns the strings among an array's elements.
func strs(v any) (all []string) {
	array, _ := v.(bson.A)
	for _, element := range array {
		if s, ok := element.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// docs returns the documents among an array's elements.
func docs(v any) (all []bson.D) {
	array, _ := v.(bson.A)
	for _, element := range array {
		if d, ok := element.(bson.D); ok {
			all = append(all, d)
		}
	}
	return all
}

// number returns a whole number of any BSON type that holds them.
func number(v any) (int, bool) {
	switch n := v.(type) {
	case int32:
		return int(n), true
	case int64:
		return int(n), true
	case float64:
		return int(n), n == float64(int(n))
	}
	return 0, false
}
