package auth

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// ClientOptions says how a client's address is known behind a proxy.
type ClientOptions struct {
	// Header carries it, such as X-Forwarded-For. If empty, the connection's counts.
	Header string
	// TrustedProxies are the addresses and networks whose header is believed.
	TrustedProxies []netip.Prefix
}

// Addr returns the address that a request comes from. The header is read from its end, where
// the last proxy has written: what stands before the first address that is no proxy's is
// the client's own word, and any client can write there.
func (a *Authenticator) Addr(c *fiber.Ctx) netip.Addr {
	o, addr := a.options.Client, peerAddr(c.Context().RemoteAddr())
	if o.Header == "" || !within(o.TrustedProxies, addr) {
		return addr
	}
	for _, line := range slices.Backward(c.Request().Header.PeekAll(o.Header)) {
		for _, hop := range slices.Backward(strings.Split(string(line), ",")) {
			next, ok := parseHop(strings.TrimSpace(hop))
			if !ok {
				return addr
			}
			if addr = next; !within(o.TrustedProxies, addr) {
				return addr
			}
		}
	}
	return addr
}

// Scheme is how a client reaches this server: https where the connection, or a trusted proxy,
// says so.
func (a *Authenticator) Scheme(c *fiber.Ctx) string {
	proxies := a.options.Client.TrustedProxies
	if c.Context().IsTLS() || len(proxies) > 0 && within(proxies, peerAddr(c.Context().RemoteAddr())) && strings.EqualFold(c.Get(fiber.HeaderXForwardedProto), "https") {
		return "https"
	}
	return "http"
}

func within(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// parseHop reads an address as proxies write it: with a port or without.
func parseHop(text string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return plain(ap.Addr()), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return plain(addr), err == nil
}

// peerAddr is the address of a peer; the zero one where it has none, as in tests of
// connections without a network.
func peerAddr(peer net.Addr) netip.Addr {
	if tcp, ok := peer.(*net.TCPAddr); ok {
		return plain(tcp.AddrPort().Addr())
	}
	ap, _ := netip.ParseAddrPort(peer.String())
	return plain(ap.Addr())
}

// plain returns an address as all others are compared: IPv4 is not written as IPv6, and
// there is no zone.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// clientBits is how much of an IPv6 address stands for one client: a client that has one
// address of such a network has them all.
const clientBits = 64

// clientOf is what one client's addresses have in common; the zero Prefix of the zero address.
func clientOf(addr netip.Addr) netip.Prefix {
	prefix, _ := addr.Prefix(min(addr.BitLen(), clientBits)) // as many bits as it has, or fewer
	return prefix
}
