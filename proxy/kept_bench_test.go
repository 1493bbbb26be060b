package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// keptKey is the key for kept answers in BenchmarkKept.
const keptKey = "the portal's key"

// BenchmarkKept compares kept answers with a bare Fiber handler that sends the same headers and bodies, by 32
// connections over the loopback: pages of a portal's sizes, in all codings; requests with keys and each visitor's
// cookies; and requests that no other is like (unlike), which have no prepared response and so take the whole way.
// Both are measured in turn, in several rounds. The metric ratio is the median of the rounds' ratios; cpu is the same
// of the processor time, which other programs do not alter: both include the clients, which cost the same. One
// iteration (-benchtime 1x) is enough: its time is fixed.
func BenchmarkKept(b *testing.B) {
	for _, size := range []int{2, 4, 20, 100, 376} {
		for _, coding := range []string{"", "gzip", "br", "zstd"} {
			b.Run(strings.TrimSpace(fmt.Sprintf("same %dkB %s", size, coding)), func(b *testing.B) {
				benchmarkKept(b, size, coding, func(int) string { return "" }, "")
			})
		}
	}
	cookie := func(n int) string { return fmt.Sprintf("Cookie: _ga=GA1.1.%d\r\n", n) }
	for _, bm := range []struct {
		name, query string
		fields      func(n int) string
	}{
		{"cookie", "", cookie},
		{"key", "", func(n int) string { return "X-API-Key: " + keptKey + "\r\n" + cookie(n) }},
		{"apikey", "?apikey=" + url.QueryEscape(keptKey), cookie},
		{"unlike", "", func(n int) string { return fmt.Sprintf("X-Case: %d\r\n", n) }},
		{"parameters", "?limit=20&apikey=" + url.QueryEscape(keptKey), cookie},
	} {
		for _, size := range []int{2, 20, 376} {
			for _, coding := range []string{"", "gzip"} {
				b.Run(strings.TrimSpace(fmt.Sprintf("%s %dkB %s", bm.name, size, coding)), func(b *testing.B) {
					benchmarkKept(b, size, coding, bm.fields, bm.query)
				})
			}
		}
	}
}

// benchmarkKept compares answers to requests with fields, which get the number of the request.
func benchmarkKept(b *testing.B, size int, coding string, fields func(n int) string, query string) {
	s := newKeptSite(b, func(o *proxy.Options) {
		if strings.Contains(query+fields(0), "key") || strings.Contains(fields(0), "Key") {
			o.Auth.PortfolioKey = keptKey
		}
	})
	var body strings.Builder
	body.WriteString(`{"status": 200, "data": [`)
	for i := 0; body.Len() < size*1000; i++ {
		const row = `{"id": "%d", "title": "Soil and its %d kinds of microbes", "year": 2020, "unit": "BIO"},` + "\n"
		fmt.Fprintf(&body, row, i*7919%100_003, i*31%997)
	}
	s.answers(php(strings.TrimSuffix(body.String(), ",\n") + "]}"))
	target := "/portfolio/unit/BIO" + query
	headers := []string{"Accept-Encoding", coding, "X-API-Key", keptKey}
	s.get(target, headers...)
	sent := s.get(target, headers...)
	if sent.Header.Get("Content-Encoding") != coding || sent.Header.Get("Cache-Status") != "vitrine; hit" {
		b.Fatalf("sent %v", sent.Header)
	}
	bare := fiber.New(fiber.Config{DisableStartupMessage: true})
	bare.Get("/*", func(c *fiber.Ctx) error {
		for name, values := range sent.Header {
			if name != "Date" && name != "Content-Length" {
				c.Set(name, values[0])
			}
		}
		c.Response().SetBodyRaw(sent.Body)
		return nil
	})
	plain := proxytest.Listen(b)
	done := make(chan error, 1)
	go func() { done <- bare.Listener(plain) }()
	defer func() {
		_ = bare.Shutdown()
		<-done
	}()
	request := "GET " + target + " HTTP/1.1\r\nHost: portal.example\r\nAccept-Encoding: " + coding + "\r\n"
	var ratios, cpu, rates []float64
	for b.Loop() {
		for range 5 {
			front, bare := load(b, s.Addr, request, fields), load(b, plain.Addr().String(), request, fields)
			ratios, rates = append(ratios, front.rate/bare.rate), append(rates, front.rate)
			cpu = append(cpu, float64(bare.cpu)/float64(front.cpu))
		}
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(cpu), "cpu")
	b.ReportMetric(median(rates), "requests/s")
	b.ReportMetric(float64(len(sent.Body)), "bytes")
	b.ReportMetric(0, "ns/op")
	if n := len(s.asked()); n != 1 {
		b.Errorf("the other server was asked %d times", n)
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// loaded is what a server did under load.
type loaded struct {
	rate float64       // requests a second
	cpu  time.Duration // processor time a request, with its client
}

// load has 32 connections send requests for a while.
func load(b *testing.B, addr, request string, fields func(n int) string) loaded {
	var count atomic.Int64
	var group sync.WaitGroup
	began, used := time.Now(), processorTime(b)
	for range 32 {
		group.Go(func() {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				b.Error(err)
				return
			}
			defer conn.Close()
			r := bufio.NewReaderSize(conn, 64<<10)
			for first := true; first || time.Since(began) < 300*time.Millisecond; first = false {
				if err := exchangeOnce(conn, r, request+fields(int(count.Add(1)))+"\r\n"); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	n := count.Load()
	return loaded{float64(n) / time.Since(began).Seconds(), (processorTime(b) - used) / time.Duration(n)}
}

// processorTime returns the time that this process has used of the processors.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// exchangeOnce sends a request and reads its answer, in less time than a client of package http.
func exchangeOnce(conn net.Conn, r *bufio.Reader, request string) error {
	if _, err := conn.Write([]byte(request)); err != nil {
		return err
	}
	length := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= len("\r\n") {
			_, err := r.Discard(length)
			return err
		}
		if name, value, found := bytes.Cut(line, []byte(": ")); found &&
			bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
}
