// Package fair shares the processors between clients.
//
// Work for a request begins with a turn (Queue.Begin). There are a few for each processor, and nearly all work ends
// within its turn after a few milliseconds. Longer work becomes costly: it returns its turn and continues when it
// gets one of the costly turns, one fewer than there are processors, so that one always remains for quick work. It
// passes the turn on every few milliseconds if others wait. While requests arrive (Queue.NoteRequest), even those
// answered without a turn, costly work uses one processor and sleeps from time to time; otherwise Share and Each use
// all.
//
// When all turns are in use, the next one goes to work that others wait for (Turn.Share), then to the client that has
// used the least processor time lately, and within one client to the work that has used the least. Many requests of a
// client delay only itself, and short new work goes before old work that needs seconds.
//
// The work calls Turn.Check about every millisecond, which also reports that no caller waits for it any more. Work
// that waits for something else pauses its turn. Work without a turn, as in tests and commands, is never delayed.
//
// Work that asks a store stands in a Line besides, which is first come, first served: the store's processors are not
// ours to share out, and who waits there must be able to know how long.
package fair
