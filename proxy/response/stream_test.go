package response_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestOldProtocol: over HTTP/1.0, which has no chunks, a stream of unknown length ends with the connection, and the
// log has the bytes that were sent.
func TestOldProtocol(t *testing.T) {
	var log proxytest.LockedBuffer
	o := proxytest.Options(t)
	o.Limits.KeptBytes, o.Logger, o.AccessLog = 4<<10, slog.New(slog.NewTextHandler(&log, nil)), true
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Many(t, 2000), o))
	want := string(l.Get("/api/activities").Body)
	log.Taken()
	for range 2 {
		conn := l.Dial()
		l.Write(conn, "GET /api/activities HTTP/1.0\r\nConnection: keep-alive\r\nAccept-Encoding: gzip\r\n\r\n")
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		header, body, _ := strings.Cut(string(answer), "\r\n\r\n")
		if strings.Contains(header, "Transfer-Encoding") || strings.Contains(header, "Content-Length") ||
			!strings.Contains(header, "Connection: close") {
			t.Errorf("header %s", header)
		}
		plain, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(plain); err != nil || string(got) != want {
			t.Errorf("%d bytes, error %v; want %d", len(got), err, len(want))
		}
		if line := log.Taken(); !strings.Contains(line, fmt.Sprintf(" status=200 bytes=%d took=", len(body))) {
			t.Errorf("%d bytes are logged as %s", len(body), line)
		}
	}
}
