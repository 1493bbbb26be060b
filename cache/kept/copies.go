package kept

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/snapfile"
)

// copies are files with kept answers, one for each key, which several processes may share. A file is
//
//	magic     "vitkept", and the version of this layout in one byte
//	checksum  CRC-32C of the header, 4 bytes
//	length    of the header, 4 bytes
//	header    a BSON document
//	body      the rest; the header has the digest of the answer
//
// The keeper removes a file that is damaged: it is only a copy.
//
// The folder may belong to several processes: snapfile.Replace renames whole files, so a reader sees the old or the
// new one. Which process wrote a file does not matter: a newer answer of the store supersedes its entry.
type copies struct{ folder string } // empty: there are none

const (
	// A new layout gets another version, and files of the old one are removed.
	copyMagic  = "vitkept\x01"
	copySuffix = ".answer"
	copyHead   = len(copyMagic) + 8
	// mostCopyHeader bounds a header, whose fields are bounded when the answer arrives.
	mostCopyHeader = 1 << 20
)

// copySums is the CRC for which processors have an instruction.
var copySums = crc32.MakeTable(crc32.Castagnoli)

// copyHeader is an answer without its body. Its fields are those of origin.Response, whose names in files must not
// change with the type.
type copyHeader struct {
	Key        string                 `bson:"key"`
	Generation int64                  `bson:"gen"`
	Digest     string                 `bson:"digest"`
	Status     int                    `bson:"status"`
	Header     []origin.ResponseField `bson:"header"`
	Size       int                    `bson:"size"`
	ETag       string                 `bson:"etag,omitempty"`
	Modified   string                 `bson:"modified,omitempty"`
	Fetched    time.Time              `bson:"fetched"`
	Checked    time.Time              `bson:"checked"`
	Marks      map[string]int64       `bson:"marks"`
	Asked      time.Time              `bson:"asked,omitempty"`
	Requests   int64                  `bson:"requests,omitempty"`
}

// path returns the path of a key's file. Keys are longer than names of files may be. Half of a SHA-256 has no
// collisions by chance; open and read compare the key nonetheless.
func (c copies) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.folder, hex.EncodeToString(sum[:16])+copySuffix)
}

// open prepares the folder, and calls found for each answer in it, without bodies. It removes what is damaged or
// lies under another name, but leaves what this user may not read.
func (c copies) open(found func(origin.Response)) error {
	if c.folder == "" {
		return nil
	}
	if err := snapfile.Prepare(c.folder); err != nil {
		return fmt.Errorf("copies of kept answers: %w", err)
	}
	files, err := os.ReadDir(c.folder)
	if err != nil {
		return fmt.Errorf("copies of kept answers: %w", err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), copySuffix) {
			continue
		}
		path := filepath.Join(c.folder, file.Name())
		r, _, err := readCopy(path, false)
		if err == nil && path == c.path(r.Key) {
			found(r)
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			_ = os.Remove(path) // if it stays, it costs only room
		}
	}
	return nil
}

// errDamagedCopy reports a file that is no whole copy.
var errDamagedCopy = errors.New("damaged copy of a kept answer")

// readCopy reads a file, with or without the body.
//
// Without the body, it relies on the header's checksum and the size of the file: reading all bodies at the start
// would take long. The digest is compared when the body is read. Errors are errDamagedCopy and those of os.Open.
func readCopy(path string, whole bool) (r origin.Response, body []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return r, nil, err
	}
	defer file.Close()
	var head [copyHead]byte
	if _, err := io.ReadFull(file, head[:]); err != nil || string(head[:len(copyMagic)]) != copyMagic {
		return r, nil, errDamagedCopy
	}
	sum := binary.LittleEndian.Uint32(head[len(copyMagic):])
	length := binary.LittleEndian.Uint32(head[len(copyMagic)+4:])
	if length > mostCopyHeader {
		return r, nil, errDamagedCopy
	}
	document := make([]byte, length)
	if _, err := io.ReadFull(file, document); err != nil || crc32.Checksum(document, copySums) != sum {
		return r, nil, errDamagedCopy
	}
	var h copyHeader
	if err := bson.Unmarshal(document, &h); err != nil {
		return r, nil, errDamagedCopy
	}
	// A file that was cut, or written on, is no copy.
	info, err := file.Stat()
	if err != nil || info.Size() != int64(copyHead)+int64(length)+int64(h.Size) {
		return r, nil, errDamagedCopy
	}
	r = origin.Response{
		Key: h.Key, Generation: uint64(h.Generation), Digest: h.Digest,
		Status: h.Status, Header: h.Header, Size: h.Size,
		ETag: h.ETag, Modified: h.Modified, Fetched: h.Fetched, Checked: h.Checked, Marks: h.Marks,
		Asked: h.Asked, Requests: h.Requests,
	}
	if !whole {
		return r, nil, nil
	}
	body = make([]byte, h.Size)
	if _, err := io.ReadFull(file, body); err != nil {
		return r, nil, errDamagedCopy
	}
	r.Body = body
	if digest(&r) != r.Digest {
		return r, nil, errDamagedCopy
	}
	return r, body, nil
}

// read returns the body of a key's answer with a digest. It removes a damaged file. Without the body, ok is false.
func (c copies) read(key, digest string) (body []byte, ok bool) {
	if c.folder == "" {
		return nil, false
	}
	r, body, err := readCopy(c.path(key), true)
	if errors.Is(err, errDamagedCopy) {
		c.remove(key)
	}
	return body, err == nil && r.Key == key && r.Digest == digest
}

// write replaces the copy of an answer.
func (c copies) write(r *origin.Response, body []byte) error {
	document, err := bson.Marshal(copyHeader{
		Key: r.Key, Generation: int64(r.Generation), Digest: r.Digest,
		Status: r.Status, Header: r.Header, Size: len(body),
		ETag: r.ETag, Modified: r.Modified, Fetched: r.Fetched, Checked: r.Checked, Marks: r.Marks,
		Asked: r.Asked, Requests: r.Requests,
	})
	if err != nil {
		return fmt.Errorf("copy of the kept answer of %s: %w", r.Key, err)
	}
	head := append(make([]byte, 0, copyHead+len(document)), copyMagic...)
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(document, copySums))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(document)))
	head = append(head, document...)
	return snapfile.Replace(c.path(r.Key), func(to io.Writer) error {
		if _, err := to.Write(head); err != nil {
			return err
		}
		_, err := to.Write(body)
		return err
	})
}

// remove removes the copy of a key's answer, if there is one.
func (c copies) remove(key string) {
	if c.folder != "" {
		_ = os.Remove(c.path(key)) // if it stays, it is removed when it is next read
	}
}
