package process

import (
	"os"
	"strconv"
	"strings"

	"vitrine/cmd/vitrine/internal/bench/report"
)

// memoryOf asks Linux for this process's memory; elsewhere it returns zeros.
func memoryOf() (m report.Held) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return m
	}
	fields := map[string]*int64{"RssAnon": &m.Anonymous, "VmRSS": &m.Resident, "VmHWM": &m.Peak}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if into := fields[name]; into != nil {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err == nil {
				*into = kilobytes << 10
			}
		}
	}
	return m
}
