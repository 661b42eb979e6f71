package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Broker is one node at the address it advertises.
type Broker struct {
	ID   int32
	Host string
	Port int32
	Rack string
}

// Addr gives HOST:PORT.
func (b Broker) Addr() string { return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))) }

// Metadata is the layout of a cluster. Brokers, topics and partitions are sorted.
type Metadata struct {
	ClusterID  string // empty where the broker does not tell
	Controller int32  // -1 unknown
	Brokers    []Broker
	Topics     []Topic
}

// Topic is one topic. Err tells that the broker refused to describe it: UNKNOWN_TOPIC_OR_PARTITION is absence,
// TOPIC_AUTHORIZATION_FAILED may hide either.
type Topic struct {
	Name       string
	ID         string // UUID as Kafka prints it; empty before 2.8 and when unknown
	Internal   bool
	Err        error
	Partitions []Partition
}

// Partition is one partition; Leader is -1 without one.
type Partition struct {
	ID            int32
	Leader        int32
	Epoch         int32 // of the leader; -1 where the broker does not tell
	Replicas, ISR []int32
	Err           error // LEADER_NOT_AVAILABLE and the like
}

// Metadata asks for topics by name, for all when topics is nil, for none when it is empty. Nothing is ever created.
// With nil, topics that an ACL hides are missing without an error.
func (c *Client) Metadata(ctx context.Context, topics []string) (*Metadata, error) {
	var md *Metadata
	err := c.retry(ctx, func(try int) (err error) {
		n := c.anyNode(try)
		md, err = c.metadataFrom(ctx, n, topics)
		return c.fail("Metadata", n, err)
	})
	if err != nil {
		return nil, err
	}
	return md, nil
}

func (c *Client) metadataFrom(ctx context.Context, n node, topics []string) (*Metadata, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	req.Version = spanOf(3).lo
	asked := slices.Clone(topics)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if topics != nil {
		req.Topics = []kmsg.MetadataRequestTopic{}
	}
	for _, t := range asked {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = &t
		req.Topics = append(req.Topics, rt)
	}
	r, err := c.ask(ctx, n, req)
	if err != nil {
		return nil, err
	}
	resp := r.(*kmsg.MetadataResponse)
	if resp.ErrorCode != 0 {
		return nil, kafka.ErrorCode(resp.ErrorCode)
	}
	if len(resp.Brokers) == 0 {
		return nil, errors.New("the answer names no broker")
	}
	md := &Metadata{Controller: resp.ControllerID}
	if resp.ClusterID != nil {
		md.ClusterID = *resp.ClusterID
	}
	for _, b := range resp.Brokers {
		mb := Broker{ID: b.NodeID, Host: b.Host, Port: b.Port}
		if b.Rack != nil {
			mb.Rack = *b.Rack
		}
		md.Brokers = append(md.Brokers, mb)
	}
	slices.SortFunc(md.Brokers, func(a, b Broker) int { return cmp.Compare(a.ID, b.ID) })
	got := map[string]bool{}
	for _, t := range resp.Topics {
		if t.Topic == nil || got[*t.Topic] {
			continue
		}
		got[*t.Topic] = true
		md.Topics = append(md.Topics, c.topic(n, t))
	}
	for _, t := range asked {
		if !got[t] {
			md.Topics = append(md.Topics, Topic{Name: t, Err: c.fail("Metadata", n, missing("topic "+t))})
		}
	}
	slices.SortFunc(md.Topics, func(a, b Topic) int { return cmp.Compare(a.Name, b.Name) })
	c.learn(md)
	return md, nil
}

func (c *Client) topic(n node, t kmsg.MetadataResponseTopic) Topic {
	out := Topic{Name: *t.Topic, Internal: t.IsInternal, Err: about(c.code("Metadata", n, t.ErrorCode, nil), "topic "+*t.Topic)}
	if t.TopicID != ([16]byte{}) {
		out.ID = uuid(t.TopicID)
	}
	for _, p := range t.Partitions {
		out.Partitions = append(out.Partitions, Partition{ID: p.Partition, Leader: p.Leader, Epoch: p.LeaderEpoch, Replicas: p.Replicas, ISR: p.ISR, Err: about(c.code("Metadata", n, p.ErrorCode, nil), fmt.Sprintf("%s-%d", *t.Topic, p.Partition))})
	}
	slices.SortFunc(out.Partitions, func(a, b Partition) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// learn keeps addresses, leaders and the existence of internal topics.
func (c *Client) learn(md *Metadata) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.brokers)
	for _, b := range md.Brokers {
		c.brokers[b.ID] = b.Addr()
	}
	for _, t := range md.Topics {
		if t.Err != nil {
			continue
		}
		if t.Name == offsetsTopic || t.Name == shareTopic {
			c.internal[t.Name] = true
		}
		for _, p := range t.Partitions {
			if p.Leader >= 0 {
				c.leaders[kafka.TopicPartition{Topic: t.Name, Partition: p.ID}] = p.Leader
			}
		}
	}
}

func missing(what string) error {
	return errors.New("the answer has no entry for " + what)
}

// Topic finds a topic by name.
func (m *Metadata) Topic(name string) (Topic, bool) {
	i, ok := slices.BinarySearchFunc(m.Topics, name, func(t Topic, n string) int { return cmp.Compare(t.Name, n) })
	if !ok {
		return Topic{}, false
	}
	return m.Topics[i], true
}

// leadersOf places partitions on their leaders.
func (c *Client) leadersOf(ctx context.Context, tps []kafka.TopicPartition, fresh bool) (map[kafka.TopicPartition]int32, map[kafka.TopicPartition]error) {
	led, bad := map[kafka.TopicPartition]int32{}, map[kafka.TopicPartition]error{}
	var look []kafka.TopicPartition
	var topics []string
	c.mu.Lock()
	for _, tp := range tps {
		l, ok := c.leaders[tp]
		if _, alive := c.brokers[l]; ok && alive && !fresh {
			led[tp] = l
			continue
		}
		look, topics = append(look, tp), append(topics, tp.Topic)
	}
	c.mu.Unlock()
	if len(look) == 0 {
		return led, bad
	}
	md, err := c.Metadata(ctx, topics)
	if err != nil {
		for _, tp := range look {
			bad[tp] = err
		}
		return led, bad
	}
	for _, tp := range look {
		if l, err := md.leader(tp); err != nil {
			bad[tp] = about(c.fail("Metadata", node{id: -1}, err), tp.String())
		} else {
			led[tp] = l
		}
	}
	return led, bad
}

func (m *Metadata) leader(tp kafka.TopicPartition) (int32, error) {
	t, ok := m.Topic(tp.Topic)
	if !ok {
		return -1, kafka.UnknownTopicOrPartition
	}
	if t.Err != nil {
		return -1, t.Err
	}
	i, ok := slices.BinarySearchFunc(t.Partitions, tp.Partition, func(p Partition, id int32) int { return cmp.Compare(p.ID, id) })
	if !ok {
		return -1, kafka.UnknownTopicOrPartition
	}
	if p := t.Partitions[i]; p.Leader >= 0 {
		return p.Leader, nil
	} else if p.Err != nil {
		return -1, p.Err
	}
	return -1, kafka.LeaderNotAvailable
}
