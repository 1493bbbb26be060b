package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// dice are a source of chance that falls the same way every time.
type dice struct{ source *rand.PCG }

// newDice returns dice for one purpose. Each purpose has its own, so that a
// change to one collection leaves the others as they are.
func newDice(purpose string) dice {
	sum := sha256.Sum256([]byte(purpose))
	return dice{rand.NewPCG(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:]))}
}

// n returns a number from 0 to below k. It reduces by hand: what rand's own
// methods draw may change with Go's version, the generator itself may not.
func (d dice) n(k int) int { return int(d.source.Uint64() % uint64(k)) }

// between returns a number from low to high, both included.
func (d dice) between(low, high int) int { return low + d.n(high-low+1) }

// chance is true in so many of a hundred cases.
func (d dice) chance(percent int) bool { return d.n(100) < percent }

// decimals returns a number from low to high in steps of 1/scale.
func (d dice) decimals(low, high float64, scale int) float64 {
	steps := int((high - low) * float64(scale))
	return float64(int(low*float64(scale))+d.n(steps+1)) / float64(scale)
}

// digits returns so many digits, the first of them not 0.
func (d dice) digits(count int) string {
	s := strconv.Itoa(d.between(1, 9))
	for len(s) < count {
		s += strconv.Itoa(d.n(10))
	}
	return s
}

// pick returns one element.
func pick[T any](d dice, from []T) T { return from[d.n(len(from))] }

// some returns count different elements in the order of chance; all of them if
// there are no more.
func some[T any](d dice, count int, from []T) []T {
	left := append([]T(nil), from...)
	count = min(count, len(left))
	for i := range count {
		j := i + d.n(len(left)-i)
		left[i], left[j] = left[j], left[i]
	}
	return left[:count]
}

// objectID returns the ID of the document with that number in a collection.
func objectID(collection string, number int) bson.ObjectID {
	sum := sha256.Sum256([]byte(collection + "/" + strconv.Itoa(number)))
	return bson.ObjectID(sum[:12])
}

// shortID returns eight hex digits for what is so named.
func shortID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}
