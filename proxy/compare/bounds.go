package compare

// TooLong begins the values of a difference that stands for parts which were not compared. Its kind is Failed, so
// that such answers count neither as equal nor as different on purpose.
const TooLong = "not compared: too long"

// These bounds hold for whatever a side answers. They leave room for long lists of which every row differs.
const (
	// mostDepth is a bound of time, not of the stack: with each level the text below it is decoded once more.
	mostDepth   = 30        // how deep values are compared by their parts: each level decodes what is below it
	mostParts   = 200_000   // rows of an array, members of an object, documents of a body
	mostTokens  = 500_000   // tokens of a text
	mostTag     = 512 << 10 // bytes of a tag, which may have an attribute in every two, or of a text between tags
	mostSpelled = 64 << 10  // bytes of a value that is decoded as a whole, which takes many times its memory
	mostAsked   = 500_000   // rows of a list that is read as evidence
	mostMatched = 256 << 10 // bytes of the values that expressions of rules match
)

// The budget is a second and 100 ns a byte: a comparison that finds few differences takes a small part of it, and
// one of two answers that have nothing in common ends within seconds.
// Work is counted in about nanoseconds. It is not measured, so that every machine compares the same parts of answers.
const (
	workFor       = 1_000_000_000 // two answers
	workForByte   = 100           // … in addition, for each of their bytes
	workToDecode  = 1_000         // a value, besides reading its bytes
	workToRead    = 12            // a byte
	workToSplit   = 300           // a token, besides reading its bytes
	workToMatch   = 3             // tokens at one place of each text
	workToReport  = 5_000         // a difference, besides reading its values
	workUntilRest = 200_000
)

// work is what may still be done for two answers. One goroutine compares two answers, so it has no lock.
type work struct {
	left  int
	rest  int // what is left at the next rest
	over  bool
	pause func()       // called between stretches of work; nil: never
	ended func() error // of the context
}
