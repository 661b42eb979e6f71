package wire

import (
	"context"
)

// CountRecords counts the data records with from <= offset < to by the headers of their batches: control batches are left out,
// with committed also aborted records, and only the two batches at the edges are decompressed. A batch's count is right after
// compaction too: the cleaner writes it anew.
//
// known is false where n is only a part of the count: mostBytes of batches were read before the end was reached, or, with
// committed, an open transaction leaves records undecided. Where the log ends before to, what is there was counted. A from outside
// the log, also because retention took it meanwhile, is OFFSET_OUT_OF_RANGE.
func (c *Client) CountRecords(ctx context.Context, topic string, partition int32, from, to, mostBytes int64, committed bool) (n int64, known bool, err error) {
	var read int64
	for next := from; next < to; {
		if read >= mostBytes {
			return n, false, nil
		}
		q := PageQuery{topic, partition, next, int32(min(defaultFetch, mostBytes-read)), committed}
		res := c.fetchBatches(ctx, []PageQuery{q}, func(d *decoder, _ int, bt batch, gone bool, _ *PageResult) error {
			switch {
			case bt.base >= to:
				return stop{errPast}
			case gone, bt.attr&attrControl != 0:
				return nil
			case bt.base >= from && bt.last < to:
				n += int64(bt.count)
				return nil
			}
			return d.each(bt, func(off int64, _ []byte) error {
				if off >= from && off < to {
					n++
				}
				return nil
			})
		})[0]
		switch {
		case res.Err == errPast:
			return n, true, nil
		case res.Err != nil:
			return n, false, res.Err
		case res.Next <= next:
			return n, !committed || res.Stable >= min(to, res.End), nil
		}
		read, next = read+res.Bytes, res.Next
	}
	return n, true, nil
}
