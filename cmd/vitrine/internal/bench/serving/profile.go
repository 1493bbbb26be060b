package serving

import (
	"os"
	"runtime/pprof"
	"sync"
)

// Profiler writes profiles of the processors' time, one after the other. The zero
// value is idle.
type Profiler struct {
	mu   sync.Mutex // guards file
	file *os.File   // being written; nil: none
}

// Profile begins a profile, into a file.
func (p *Profiler) Profile(path string, _ *struct{}) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		_ = f.Close()
		return err
	}
	p.file = f
	return nil
}

// EndProfile ends the profile that was begun, if one was.
func (p *Profiler) EndProfile(_ struct{}, _ *struct{}) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	pprof.StopCPUProfile()
	f := p.file
	p.file = nil
	return f.Close()
}
