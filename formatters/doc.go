// Package formatters reads and writes MirrorMaker 2's binary records: offset syncs, checkpoints and heartbeats, as the
// bytes in the topics, as the text of Kafka's own console formatters, and as JSON.
//
// What may enter: codecs from bytes or text to the values of internal/mm2 and back. No connection. A record that is not
// what its topic should hold gives an error with the reason; nothing is skipped silently.
package formatters
