package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

var errTooMuch = errors.New("it grows beyond the limit for one batch")

const maxInflated = 256 << 20

// inflater decompresses the records of a batch into a buffer that the next call reuses.
type inflater struct {
	limit int // bytes one batch may grow to; default maxInflated
	buf   []byte
	gz    *gzip.Reader
	lz    *lz4.Reader
	zs    *zstd.Decoder
	br    bytes.Reader
}

func (d *inflater) max() int {
	if d.limit > 0 {
		return d.limit
	}
	return maxInflated
}

func (d *inflater) inflate(codec int, r []byte) (out []byte, err error) {
	switch codec {
	case 0:
		return r, nil
	case 1:
		d.br.Reset(r)
		if d.gz == nil {
			d.gz, err = gzip.NewReader(&d.br)
		} else {
			err = d.gz.Reset(&d.br)
		}
		if err != nil {
			d.gz = nil
			return nil, err
		}
		return d.readAll(d.gz)
	case 2:
		return d.snappy(r)
	case 3:
		d.br.Reset(r)
		if d.lz == nil {
			d.lz = lz4.NewReader(&d.br)
		} else {
			d.lz.Reset(&d.br)
		}
		return d.readAll(d.lz)
	case 4:
		if d.zs == nil {
			if d.zs, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(d.max()))); err != nil {
				return nil, err
			}
		}
		if out, err = d.zs.DecodeAll(r, d.buf[:0]); err != nil {
			return nil, err
		}
		d.buf = out
		return out, nil
	}
	return nil, fmt.Errorf("compression codec %d is not known", codec)
}

func (d *inflater) readAll(r io.Reader) ([]byte, error) {
	b := d.buf[:0]
	for {
		if len(b) == cap(b) {
			nb := make([]byte, len(b), max(64<<10, 2*cap(b)))
			copy(nb, b)
			b = nb
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if len(b) > d.max() {
			return nil, errTooMuch
		}
		if err == io.EOF {
			d.buf = b
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

var xerial = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

// snappy reads a plain block, and the frames of xerial's Java library that Java producers write.
func (d *inflater) snappy(r []byte) ([]byte, error) {
	if !bytes.HasPrefix(r, xerial) {
		n, err := s2.DecodedLen(r)
		if err != nil {
			return nil, err
		}
		if n > d.max() {
			return nil, errTooMuch
		}
		out, err := s2.Decode(d.buf[:cap(d.buf)], r)
		if err != nil {
			return nil, err
		}
		d.buf = out
		return out, nil
	}
	if len(r) < 16 {
		return nil, errCut
	}
	r = r[16:] // magic, version, compatible version
	out := d.buf[:0]
	for len(r) > 0 {
		if len(r) < 4 {
			return nil, errCut
		}
		n := int64(binary.BigEndian.Uint32(r))
		if r = r[4:]; n > int64(len(r)) {
			return nil, errCut
		}
		dl, err := s2.DecodedLen(r[:n])
		if err != nil {
			return nil, err
		}
		if dl+len(out) > d.max() {
			return nil, errTooMuch
		}
		if cap(out)-len(out) < dl {
			nb := make([]byte, len(out), 2*cap(out)+dl)
			copy(nb, out)
			out = nb
		}
		blk, err := s2.Decode(out[len(out):len(out)+dl], r[:n])
		if err != nil {
			return nil, err
		}
		out = out[:len(out)+len(blk)]
		r = r[n:]
	}
	d.buf = out
	return out, nil
}
