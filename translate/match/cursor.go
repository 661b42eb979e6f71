package match

import "errors"

// errBudget says that as many records were read as may be.
var errBudget = errors.New("the read budget is used up")

// cursor goes forward over the data records of one side.
type cursor struct {
	side  Side
	next  int64 // not read yet
	end   int64
	keep  func(Record) bool
	buf   []Record
	head  int
	spent *int // records read by both cursors
	most  int
	chunk int64 // offsets to read at once: more with each read
}

// firstChunk is how many offsets are read at first: most walks are short.
const firstChunk = 64

// peek gives the i-th record from here; ok is false beyond the end.
func (c *cursor) peek(i int) (r Record, ok bool, err error) {
	for c.head+i >= len(c.buf) {
		if c.next >= c.end {
			return Record{}, false, nil
		}
		if *c.spent >= c.most {
			return Record{}, false, errBudget
		}
		if c.head > 4096 && c.head > len(c.buf)/2 {
			c.buf = append(c.buf[:0], c.buf[c.head:]...)
			c.head = 0
		}
		c.chunk = max(firstChunk, min(2*c.chunk, 4096))
		rs, next, err := c.side.Read(c.next, min(c.end, c.next+c.chunk))
		if err != nil {
			return Record{}, false, err
		}
		if next <= c.next {
			return Record{}, false, errors.New("reading makes no progress")
		}
		c.next = next
		*c.spent += len(rs)
		for _, r := range rs {
			if c.keep(r) {
				c.buf = append(c.buf, r)
			}
		}
	}
	return c.buf[c.head+i], true, nil
}

func (c *cursor) skip(n int) { c.head += n }

// window gives up to n records from here, and whether there are no more after them.
func (c *cursor) window(n int) (rs []Record, last bool, err error) {
	_, ok, err := c.peek(n)
	if err != nil {
		return nil, false, err
	}
	rest := c.buf[c.head:]
	return rest[:min(n, len(rest))], !ok, nil
}

func data(r Record) bool      { return !r.Has(Control) }
func committed(r Record) bool { return r.Flags&(Control|Aborted) == 0 }
