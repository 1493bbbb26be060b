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

// Clients tells who a request comes from.
type Clients struct{ ClientOptions }

// trusts reports whether an address is one of the proxies'.
func (k *Clients) trusts(addr netip.Addr) bool { return within(k.TrustedProxies, addr) }

func within(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// Of returns the client's address. The header is read from its end, where the last
// proxy has written: what stands before the first address that is no proxy's is
// the client's own word, and anybody can write there.
func (k *Clients) Of(c *fiber.Ctx) netip.Addr {
	addr := addrOf(c.Context().RemoteAddr())
	if k.Header == "" || !k.trusts(addr) {
		return addr
	}
	lines := c.Request().Header.PeekAll(k.Header)
	for _, line := range slices.Backward(lines) {
		for _, hop := range slices.Backward(strings.Split(string(line), ",")) {
			next, ok := readHop(strings.TrimSpace(hop))
			if !ok {
				return addr
			}
			if addr = next; !k.trusts(addr) {
				return addr
			}
		}
	}
	return addr
}

// readHop reads an address as proxies write it: with a port or without.
func readHop(text string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

// addrOf is the address of a peer; the zero one where it has none, as in tests of
// connections without a network.
func addrOf(peer net.Addr) netip.Addr {
	if tcp, ok := peer.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	ap, err := netip.ParseAddrPort(peer.String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// clientBits is how much of an IPv6 address stands for one client: whoever has one
// address of such a network has them all.
const clientBits = 64

// ClientOf is what one client's addresses have in common.
func ClientOf(addr netip.Addr) netip.Prefix {
	if !addr.IsValid() {
		return netip.Prefix{}
	}
	prefix, err := addr.Prefix(min(addr.BitLen(), clientBits))
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
