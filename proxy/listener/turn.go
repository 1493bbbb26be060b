package listener

// Turn is the right to use a processor. Pause returns it, and Resume waits for it, unless the turn is held or has
// ended. Resume fails if the response is not needed any more.
type Turn interface {
	Pause()
	Resume() error
}
