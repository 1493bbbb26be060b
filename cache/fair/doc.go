// Package fair shares the processors between clients.
//
// Work for a request begins with a turn (Queue.Begin). There are a few turns for each processor, and nearly all work
// ends within its turn after a few milliseconds. Work that takes longer becomes costly: it returns its turn and
// continues when it gets one of the costly turns. There is one costly turn fewer than there are processors, so one
// processor always remains for quick work. If others wait for a costly turn, it passes on every few milliseconds. While
// requests arrive (Queue.Arrive), even those answered without a turn, costly work uses one processor and sleeps from
// time to time; while none arrive, Share and Each use all processors for it.
//
// When all turns are in use, the next one goes to work that others wait for (Turn.Share), then to the client that has
// used the least processor time lately, and within one client to the work that has used the least. A client with many
// requests thus delays itself, and short new work goes before old work that needs seconds.
//
// Work that waits for something else, such as a client that reads slowly, pauses its turn.
//
// The work calls Turn.Check about every millisecond. Check also reports that no caller waits for the work any more.
// Work without a turn, as in tests and on the command line, is never delayed.
package fair
