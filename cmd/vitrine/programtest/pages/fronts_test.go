package pages

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/proxytest/osiristest"
)

// publicName is the name under which the files of docs/deploy serve OSIRIS and Vitrine.
const publicName = "osiris.example.org"

// fronts are the web servers for which docs/deploy has a file that puts Vitrine before OSIRIS. back is the change
// that a comment in the file names: OSIRIS answers alone again.
var fronts = []struct {
	file, needs string
	start       func(f *front, t *testing.T, text string)
	back        [2]string
}{
	{"osiris.nginx.conf", "nginx", (*front).startNginx, [2]string{"max_fails=0;", "max_fails=0 down;"}},
	{"osiris.apache.conf", "apache2", (*front).startApache, [2]string{"hcpasses=1", "hcpasses=1 status=+D"}},
	{"osiris.Caddyfile", "caddy", (*front).startCaddy, [2]string{"to 127.0.0.1:8080 127", "to 127"}},
}

// front is a web server before OSIRIS and Vitrine.
type front struct {
	dir         string
	plain, safe string // addresses for http and https
	old         *osiristest.Server
	vitrine     string // address
	client      *http.Client
	pool        *x509.CertPool
}

// newFront returns a front that was not started, with a certificate for the public name and a client that finds it.
// The client's address is not one that Vitrine trusts.
func newFront(t *testing.T, old *osiristest.Server, vitrine string) *front {
	t.Helper()
	f := &front{
		dir: folder(t, nil), plain: freeAddress(t), safe: freeAddress(t), old: old, vitrine: vitrine,
		pool: x509.NewCertPool(),
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{publicName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	f.pool.AddCert(parsed)
	for name, block := range map[string]*pem.Block{
		"fullchain.pem": {Type: "CERTIFICATE", Bytes: cert}, "privkey.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(f.dir, name), pem.EncodeToMemory(block), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f.client = f.clientFrom("127.0.0.9")
	return f
}

// clientFrom returns a client at an address of the loopback, for which the public name is the front.
func (f *front) clientFrom(address string) *http.Client {
	dial := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{
		Timeout:       proxytest.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: f.pool, NextProtos: []string{"http/1.1"}},
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				to := map[string]string{publicName + ":80": f.plain, publicName + ":443": f.safe}[address]
				return dial.DialContext(ctx, "tcp", to)
			},
		},
	}
}

// listens reports whether both ports accept connections.
func (f *front) listens() bool {
	for _, address := range []string{f.plain, f.safe} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		_ = conn.Close()
	}
	return true
}

// settle puts addresses and the place of the certificate into a file of docs/deploy.
func (f *front) settle(text string) string {
	plainHost, plainPort, _ := net.SplitHostPort(f.plain)
	safeHost, safePort, _ := net.SplitHostPort(f.safe)
	return strings.NewReplacer(
		"127.0.0.1:8080", f.vitrine, "127.0.0.1:8082", strings.TrimPrefix(f.old.URL(), "http://"),
		"/etc/ssl/osiris/", f.dir+"/",
		"listen 80;", "listen "+f.plain+";", "listen 443 ", "listen "+f.safe+" ", // nginx
		"*:80>", f.plain+">", "*:443>", f.safe+">", // Apache
		"http://"+publicName+" {", "http://"+publicName+":"+plainPort+" {\nbind "+plainHost, // Caddy
		"https://"+publicName+" {", "https://"+publicName+":"+safePort+" {\nbind "+safeHost,
		"\tauto_https ", "\tadmin off\n\tauto_https ",
	).Replace(text)
}

func (f *front) startNginx(t *testing.T, text string) {
	conf := "daemon off; pid " + f.dir + "/pid; error_log stderr; events {}\nhttp { access_log off;\n" + text + "}\n"
	if os.Geteuid() == 0 {
		conf = "user root;\n" + conf
	}
	program(t, f.listens, "nginx", "-e", "stderr", "-p", f.dir, "-c", programtest.WriteFile(t, f.dir, conf))
}

func (f *front) startApache(t *testing.T, text string) {
	conf := "ServerRoot " + f.dir + "\nDefaultRuntimeDir " + f.dir + "\nServerName localhost\nListen " + f.plain +
		"\nListen " + f.safe + "\nPidFile " + f.dir + "/pid\nErrorLog /dev/stderr\n"
	for _, name := range []string{"mpm_event", "authz_core", "alias", "ssl", "headers", "rewrite", "proxy",
		"proxy_http", "slotmem_shm", "proxy_balancer", "proxy_hcheck", "lbmethod_byrequests"} {
		conf += "LoadModule " + name + "_module /usr/lib/apache2/modules/mod_" + name + ".so\n"
	}
	if os.Geteuid() == 0 {
		conf += "User www-data\nGroup www-data\n"
	}
	program(t, f.listens, "apache2", "-D", "FOREGROUND", "-f", programtest.WriteFile(t, f.dir, conf+text))
}

func (f *front) startCaddy(t *testing.T, text string) {
	file := programtest.WriteFile(t, f.dir, text)
	program(t, f.listens, "env", "HOME="+f.dir, "XDG_CONFIG_HOME="+f.dir, "XDG_DATA_HOME="+f.dir,
		"caddy", "run", "--adapter", "caddyfile", "--config", file)
}

// answer is what a client gets.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request to the public name, with headers as name, value pairs.
func (f *front) ask(t *testing.T, method, url, body string, headers ...string) answer {
	t.Helper()
	if strings.HasPrefix(url, "/") {
		url = "https://" + publicName + url
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := f.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

// byVitrine reports whether Vitrine has sent or forwarded an answer.
func (a answer) byVitrine() bool { return a.header.Get("X-Request-Id") != "" }

// TestFronts starts each web server with its file of docs/deploy, the old server and the program with osiris.yml.
// Only addresses, the store and the place of the certificate are others.
func TestFronts(t *testing.T) {
	programtest.WholeOnly(t)
	for _, way := range fronts {
		t.Run(way.needs, func(t *testing.T) {
			if _, err := exec.LookPath(way.needs); err != nil {
				t.Skipf("%s is not installed", way.needs)
			}
			t.Parallel()
			old := osiristest.Start(t)
			vitrine := startBefore(t, old)
			f := newFront(t, old, strings.TrimPrefix(vitrine.Base, "http://"))
			old.CallBackBy(f.clientFrom("127.0.0.1"), "https://"+publicName)
			way.start(f, t, f.settle(deployed(t, way.file)))
			f.routes(t)
			f.says(t)
			f.smuggles(t)
			f.falls(t, vitrine)
		})
		t.Run(way.needs+" unready", func(t *testing.T) {
			if _, err := exec.LookPath(way.needs); err != nil {
				t.Skipf("%s is not installed", way.needs)
			}
			t.Parallel()
			f := newFront(t, osiristest.Start(t), unready(t))
			way.start(f, t, f.settle(deployed(t, way.file)))
			programtest.Await(t, "the old server answers for one that is not ready", func() string {
				a := f.ask(t, http.MethodGet, "/portfolio/units", "")
				return programtest.Lacking(fmt.Sprint(a.status, a.body), "200", "Biology")
			})
		})
		t.Run(way.needs+" back", func(t *testing.T) {
			if _, err := exec.LookPath(way.needs); err != nil {
				t.Skipf("%s is not installed", way.needs)
			}
			t.Parallel()
			text := deployed(t, way.file)
			if strings.Count(text, way.back[0]) != 1 {
				t.Fatalf("%s: no line to go back", way.file)
			}
			var asked atomic.Int64
			own := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					asked.Add(1)
				}
			}))
			t.Cleanup(own.Close)
			f := newFront(t, osiristest.Start(t), strings.TrimPrefix(own.URL, "http://"))
			way.start(f, t, f.settle(strings.Replace(text, way.back[0], way.back[1], 1)))
			for _, path := range []string{"/portfolio/units", "/api/journals"} {
				a := f.ask(t, http.MethodGet, path, "")
				if a.status != http.StatusOK || asked.Load() > 0 || f.old.CountPath(path) != 1 {
					t.Errorf("%s after the way back: %d, %d requests for Vitrine", path, a.status, asked.Load())
				}
			}
		})
	}
}

// deployed returns a file of docs/deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../../docs/deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// startBefore starts the program before an old server, by osiris.yml.
func startBefore(t *testing.T, old *osiristest.Server) *programtest.Server {
	t.Helper()
	dir := t.TempDir()
	config := strings.NewReplacer("mongodb://127.0.0.1/osiris", "bolt://v.db", "http://127.0.0.1:8082", old.URL()).
		Replace(deployed(t, "osiris.yml"))
	file := programtest.WriteFile(t, dir, config)
	dump := t.TempDir()
	old.Institute().Dump(t, dump)
	programtest.Run(t, dir, "import", "--config", file, dump)
	return programtest.Start(t, dir, "--config", file).Ready()
}

// unready returns the address of a server that answers 503, as Vitrine does while it loads.
func unready(t *testing.T) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}
