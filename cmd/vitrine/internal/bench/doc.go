// Package bench measures a front end: what it answers per second and how long each
// answer takes, against the least that could send the same bytes and against the
// same question to the store; how soon it starts, how it refreshes, and what memory
// it needs.
//
//	a dump, the demo, a store ──▶ multiply ──▶ embedded store ──▶ serving process ◀──HTTP── this process
//	                                              │                bare process    ◀──HTTP──┘
//	                                              └──the same queries, through origin.Find
//
// The serving process is the program as `serve` runs it, with a service for the
// measurement (package serving). The bare process holds a Fiber handler that sends
// bytes copied from it (package bare). This process asks both over loopback in turns
// (package load) and starts both as children of the same program (package child).
// Other work of the machine affects both sides alike, and what counts is the median
// of the ratios of several rounds.
//
// A figure is never reported of a wrong answer: one with another status, or one from
// the result cache where every question is new, ends its case with an error.
package bench
