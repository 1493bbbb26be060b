package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
)

// structure examines the pages of the file. bbolt trusts its file: a page that points at a page above it makes bbolt
// run for ever, and a wrong length makes it read other memory. structure checks every page in use before bbolt reads
// any: each page belongs to one place, has a correct header, and has its keys in order; no free page is in use.
//
// bbolt's own Tx.Check cannot do that, not even in a process of its own. Of 1,600 files with the damage of
// TestRandomDamage, structure refused 180 and found 658 with flaws in a collection or a view. On these 838, Tx.Check
// ended its process 119 times, ran for ever 5 times, and called 22 sound, in which records were missing or damaged.
// In the others it names pages, not what they belong to, so that one damaged page of a view would cost the whole
// store. And it takes twelve times as long.
type structure struct {
	file  []byte
	page  uint64         // bytes of a page
	pages uint64         // the high-water mark: the number of pages ever in use
	used  *bitset.BitSet // pages in use
	flaws map[string]error
}

// Parts of bbolt's file format, version 2. Numbers have the byte order of the machine.
const (
	pageHeader   = 16 // id, flags, count, overflow
	elementSize  = 16 // leaf: flags, position, key size, value size; branch: position, key size, page
	bucketHeader = 16 // root page, sequence; an inline bucket has its page after it

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	boltMagic  = 0xED0CDAED
	noFreelist = ^uint64(0)
	maxDepth   = 32 // far more levels than a file can have
)

// The layout, from https://github.com/etcd-io/bbolt (internal/common/page.go, meta.go, bucket.go): the file is a
// sequence of pages of the system's size. Pages 0 and 1 are the metas, written in turn. A bucket is a B+tree of
// branch and leaf pages; a bucket in a bucket is a leaf entry with a flag, whose value is the number of its root
// page or, if it is small, its only page. Values longer than a page go on in overflow pages.

// header is the content of one of bbolt's two meta pages, written by transaction tx.
type header struct{ root, freelist, pages, tx uint64 }

// errCut says that a file is shorter than its header demands, the usual trace of a full disk or an interrupted
// copy.
func errCut(size, want int64) error {
	return fmt.Errorf("the file was cut off: it has %d bytes and should have at least %d", size, want)
}

// examine checks the file. It returns the flaws of single collections and views by name ("source/activities",
// "views/persons"), whether one of the two meta pages is damaged, and an error if the file is unusable. file is the
// mapped file, which may fault: the caller guards it. Flaws inside the buckets of one collection or view are of
// that part, flaws above it of the file.
func examine(file []byte, page int64) (flaws map[string]error, oneHead bool, err error) {
	h, before, err := readHeaders(bytes.NewReader(file), page)
	if err != nil {
		return nil, false, err
	}
	if size := int64(len(file)); h.pages > uint64(size/page) {
		return nil, false, errCut(size, int64(min(h.pages, 1<<40))*page)
	}
	s := structure{file: file, page: uint64(page), pages: h.pages, used: bitset.New(uint(h.pages)),
		flaws: map[string]error{}}
	s.used.Set(0).Set(1)
	err = s.tree(nil, h.root, 0, nil, nil)
	switch {
	case err != nil:
	case h.freelist != noFreelist:
		err = s.freelist(h.freelist)
	case len(s.flaws) > 0:
		err = errors.New("the list of free pages is missing")
	}
	return s.flaws, before == header{}, err
}

// readHeaders returns the last header and the one before it. A header is zero if its page is damaged. The last one
// has the greater number of a transaction. An equal number does not occur in a file of bbolt's.
func readHeaders(file io.ReaderAt, page int64) (last, before header, err error) {
	for i := range int64(2) {
		meta := make([]byte, 64)
		if _, err := file.ReadAt(meta, i*page+pageHeader); err != nil {
			return last, before, err
		}
		sum := fnv.New64a()
		sum.Write(meta[:56])
		if binary.NativeEndian.Uint32(meta) != boltMagic || binary.NativeEndian.Uint64(meta[56:]) != sum.Sum64() {
			continue
		}
		at := func(i int) uint64 { return binary.NativeEndian.Uint64(meta[i:]) }
		h := header{root: at(16), freelist: at(32), pages: at(40), tx: at(48)}
		if h.tx >= last.tx {
			last, before = h, last
		} else {
			before = h
		}
	}
	if last == (header{}) {
		return last, before, errors.New("both of its meta pages are damaged")
	}
	return last, before, nil
}

// read returns a page with its overflow pages, and marks them as used. Marking them is how read notices two owners
// of one page, and also a circle, which maxDepth bounds besides.
func (s *structure) read(id uint64, depth int) ([]byte, error) {
	if id < 2 || id >= s.pages || depth >= maxDepth {
		return nil, fmt.Errorf("page %d is out of place", id)
	}
	page := s.file[id*s.page:]
	last := id + uint64(binary.NativeEndian.Uint32(page[12:]))
	if binary.NativeEndian.Uint64(page) != id || last >= s.pages {
		return nil, fmt.Errorf("page %d is not what was written there", id)
	}
	for i := id; i <= last; i++ {
		if s.used.Test(uint(i)) {
			return nil, fmt.Errorf("page %d is in use twice", i)
		}
		s.used.Set(uint(i))
	}
	return page[:(last-id+1)*s.page], nil
}

// element is an entry of a page: in a leaf a key and its value, in a branch a page and that page's first key.
type element struct {
	key, value []byte
	bucket     bool
	page       uint64
}

// elements calls fn for the entries of a page. The first key must be from, unless that is nil, because a branch has
// the first key of each page below it. All keys must be less than to, unless that is nil. bbolt writes the keys and
// values of a page one after the other, in order.
func elements(page []byte, from, to []byte, fn func(element) error) error {
	kind, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	next := pageHeader + count*elementSize // where the next key must lie
	switch {
	case kind != branchPage && kind != leafPage, kind == branchPage && count == 0, next > len(page):
		return errors.New("not a page of records")
	case count == 0 && (from != nil || !blank(page[pageHeader:])):
		return errors.New("the number of its records is wrong")
	}
	before := from
	for i := range count {
		e, ok := elementAt(page, kind, i, next)
		if !ok {
			return fmt.Errorf("record %d does not lie where it was written", i)
		}
		c := bytes.Compare(before, e.key)
		ordered := c < 0
		if i == 0 {
			ordered = from == nil || c == 0
		}
		if !ordered || to != nil && bytes.Compare(e.key, to) >= 0 {
			return fmt.Errorf("record %d is out of order", i)
		}
		if err := fn(e); err != nil {
			return err
		}
		next, before = next+len(e.key)+len(e.value), e.key
	}
	return nil
}

// elementAt returns entry i of a page. ok is false if its key does not lie at next, or it reaches beyond the page.
// position counts from the entry's own head, as in bbolt.
func elementAt(page []byte, kind uint16, i, next int) (e element, ok bool) {
	head := pageHeader + i*elementSize
	number := func(i int) int { return int(binary.NativeEndian.Uint32(page[head+4*i:])) }
	position, keySize, valueSize := number(0), number(1), 0
	if kind == branchPage {
		e.page = binary.NativeEndian.Uint64(page[head+8:])
	} else {
		e.bucket = number(0) != 0
		position, keySize, valueSize = number(1), number(2), number(3)
	}
	if head+position != next || keySize == 0 || next+keySize+valueSize > len(page) {
		return element{}, false
	}
	e.key, e.value = page[next:next+keySize], page[next+keySize:next+keySize+valueSize]
	return e, true
}

// blank reports whether no entry was written at the beginning of a page's content. A page whose number of entries
// was damaged to zero still has their heads, and is not blank.
func blank(content []byte) bool {
	return len(bytes.Trim(content[:min(len(content), elementSize)], "\x00")) == 0
}

// tree checks the pages of a bucket below one of its pages, and the buckets in it.
func (s *structure) tree(path []string, id uint64, depth int, from, to []byte) error {
	page, err := s.read(id, depth)
	if err != nil {
		return err
	}
	if binary.NativeEndian.Uint16(page[8:]) != branchPage {
		err = elements(page, from, to, func(e element) error { return s.entry(path, e, depth) })
	} else {
		var below []element
		err = elements(page, from, to, func(e element) error {
			below = append(below, e)
			return nil
		})
		for i := 0; err == nil && i < len(below); i++ {
			end := to
			if i+1 < len(below) {
				end = below[i+1].key
			}
			if err := s.tree(path, below[i].page, depth+1, below[i].key, end); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// isRecord reports whether the entries at a path are records, which have a checksum of their own.
func isRecord(path []string) bool {
	return len(path) > 2 || len(path) == 2 && path[0] == string(bucketSource)
}

// isBucket reports whether the entry with a key at a path is a bucket; see the layout of the package.
func isBucket(path []string, key []byte) bool {
	switch len(path) {
	case 0:
		return true
	case 1:
		return path[0] != string(bucketLeases)
	}
	return path[0] == string(bucketViews) && !bytes.Equal(key, keyMeta)
}

// entry checks an entry of a leaf, and what is in it if it is a bucket. A flaw in a collection or a view is noted,
// and is no error: the others can be read.
func (s *structure) entry(path []string, e element, depth int) error {
	if isRecord(path) {
		return nil
	}
	bucket := isBucket(path, e.key)
	if e.bucket != bucket || bucket && len(e.value) < bucketHeader {
		return fmt.Errorf("%q is not what was written", e.key)
	}
	if !bucket || len(path) == 1 && path[0] == string(bucketAside) {
		return nil
	}
	path = append(slices.Clone(path), string(e.key))
	err := s.bucket(path, e.value, depth)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", e.key, err)
	if len(path) == 2 && path[0] != string(bucketLeases) {
		s.flaws[strings.Join(path, "/")] = err
		return nil
	}
	return err
}

// bucket checks a bucket, whose entries are in pages of their own or, if they are few, in one page within the
// value.
func (s *structure) bucket(path []string, value []byte, depth int) error {
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return s.tree(path, root, depth+1, nil, nil)
	}
	page := value[bucketHeader:]
	if len(page) < pageHeader || binary.NativeEndian.Uint16(page[8:]) != leafPage {
		return errors.New("not a page of records")
	}
	return elements(page, nil, nil, func(e element) error { return s.entry(path, e, depth) })
}

// freelist checks that the list of free pages is in order and that none of them is in use. It runs after tree,
// which has marked the pages in use. A page that is in neither is only lost space.
func (s *structure) freelist(id uint64) error {
	page, err := s.read(id, 0)
	if err != nil {
		return fmt.Errorf("list of free pages: %w", err)
	}
	count, ids := uint64(binary.NativeEndian.Uint16(page[10:])), page[pageHeader:]
	if count == 0xFFFF {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if binary.NativeEndian.Uint16(page[8:]) != freelistPage || count > uint64(len(ids)/8) {
		return fmt.Errorf("list of free pages: page %d: not a list of pages", id)
	}
	before := uint64(1)
	for i := range count {
		free := binary.NativeEndian.Uint64(ids[8*i:])
		if free <= before || free >= s.pages || s.used.Test(uint(free)) {
			return fmt.Errorf("list of free pages: page %d cannot be free", free)
		}
		before = free
	}
	return nil
}
