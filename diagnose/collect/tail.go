package collect

import (
	"context"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// Records gives every record of a topic's partition 0, where MirrorMaker 2 writes, up to the end that it has now.
func Records(ctx context.Context, c Cluster, topic string, fn func(*kafka.Record)) error {
	_, err := readAll(ctx, &cluster{Cluster: c}, topic, 0, fn)
	return err
}
