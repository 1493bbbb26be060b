// Package bench measures a front end: what it answers per second and how long each
// answer takes, against the least that could send the same bytes and against the
// same question to the store; how soon it starts, how it refreshes, and what memory
// it needs.
//
//	a dump, the demo, a store ──▶ multiply ──▶ embedded store ──▶ serving process ◀──HTTP── driving process
//	                                              │                bare process    ◀──HTTP──┘
//	                                              └──the same queries, through origin.Find
//
// The serving process is the program as `serve` runs it (package serving is what it
// tells beside), the bare one holds a Fiber handler that sends bytes taken over from
// it (package bare), the driving one asks both over loopback in turns (package load).
// What else the machine does meets both alike, and what counts is the median of the
// ratios of several rounds. All three are this program, started again by the one
// that measures (package child).
//
// Figures are what was measured, never what was hoped for: an answer that is not as
// it must be, or that came from the result cache where it must not, ends the case
// with an error.
package bench
