// Package open chooses the store that a URI names.
package open

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/mongo"
)

// Store opens the store at a URI, with the options for its kind:
//
//	bolt://data/vitrine.db            the embedded store, path relative to the working directory
//	bolt:///var/lib/vitrine.db        the same with an absolute path
//	mongodb://host1,host2/database    a MongoDB; see its manual for options
//	mongodb+srv://name/database       the same, hosts and options from DNS
//
// Errors name the store but never its password.
func Store(ctx context.Context, uri string, b bolt.Options, m mongo.Options) (origin.Store, error) {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return nil, errors.New("no store given: want bolt://PATH or mongodb://HOST/DATABASE")
	}
	switch scheme {
	case "bolt":
		return orNil(bolt.Open(rest, b))
	case "mongodb", "mongodb+srv":
		return orNil(mongo.Open(ctx, uri, m))
	}
	return nil, fmt.Errorf("store %s://…: unknown kind of store; known are bolt, mongodb and mongodb+srv", scheme)
}

// orNil returns a store as an interface that is nil if there is an error.
func orNil[S origin.Store](s S, err error) (origin.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
