package dump

import (
	"crypto/sha256"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/internal/idkey"
)

// keyHash stands for an _id in memory: of 128 bits, so that long _id cost no
// more than short ones and no two ever meet. _id that MongoDB holds to be the
// same, such as 1 and 1.0, have the same.
type keyHash [16]byte

// maxID is how long an _id may be, in bytes: what every store takes.
const maxID = 32000

// hashID returns the hash of an _id.
func hashID(id bson.RawValue) (keyHash, error) {
	var room [64]byte
	key, err := idkey.Append(room[:0], id)
	if err == nil && len(key) > maxID {
		err = fmt.Errorf("_id of more than %d bytes", maxID)
	}
	if err != nil {
		return keyHash{}, err
	}
	sum := sha256.Sum256(key)
	return keyHash(sum[:16]), nil
}
