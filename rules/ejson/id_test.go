package ejson_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules/ejson"
)

func TestIDText(t *testing.T) {
	for given, want := range map[string]string{
		`{"$oid": "5f0000000000000000000001"}`: "5f0000000000000000000001",
		`"a\"b"`:                               `a"b`,
		`""`:                                   "",
		`7`:                                    "7",
		`{"$numberLong": "7"}`:                 "7",
		`7.0`:                                  "7.0",
		`{"a": 1}`:                             `{"a":1}`,
		`true`:                                 "true",
	} {
		id, err := parseValue([]byte(given), ejson.Options{})
		assert.NoError(t, err)
		assert.Equal(t, want, ejson.IDText(id))
		assert.Equal(t, string(ejson.AppendString(nil, want)), string(ejson.AppendID(nil, id)))
	}
}
