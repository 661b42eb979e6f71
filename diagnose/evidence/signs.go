package evidence

import (
	"regexp"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Lines that tell something, in MirrorMaker 2's, Connect's and the clients' own words.
var (
	unableToSync = regexp.MustCompile(`^Unable to sync offsets for consumer group (.+?)\.( This is likely caused by consumers currently using this group in the target cluster\.)?$`)
	storeLoad    = regexp.MustCompile(`caught exception in scheduled task: starting (?:checkpoint and )?offset sync stores?|Could not look up partition metadata for topic '[^']*offset-syncs[^']*' in the allotted period`)
	syncFailure  = regexp.MustCompile(`^Failure sending offset sync\.|Unexpected exception in Thread\[KafkaBasedLog Work Thread - mm2-offset-syncs|^Error polling: .*SchemaException`)
	taskEnded    = regexp.MustCompile(`^(?:WorkerS\w+Task\{id=[^}]*\} )?Task threw an uncaught and unrecoverable exception|^(?:WorkerS\w+Task\{id=[^}]*\} )?Task is being killed and will not recover until manually restarted`)
	denied       = regexp.MustCompile(`\b(?:Topic|Group|Cluster|TransactionalId)AuthorizationException\b|Not authorized to access (?:topics|group|checkpoints topic)|Topic authorization failed for topics`)

	deniedTopics = regexp.MustCompile(`(?:Not authorized to access topics|Topic authorization failed for topics):? \[([^\]]+)\]`)
	deniedOne    = regexp.MustCompile(`Not authorized to access (?:checkpoints )?topic ([\w.-]+)`)
	deniedGroup  = regexp.MustCompile(`Not authorized to access group: ([^\s,]+)|offsets for consumer group (\S+) on |Error querying (?:offsets )?for consumer group (\S+) on cluster`)
	deniedParts  = regexp.MustCompile(`Failed altering consumer group offsets for the following partitions: \[([^\]]+)\]`)

	// closing is what each clean stop writes: the admin client goes while a commit is under way (seen on 3.9.1).
	closing = regexp.MustCompile(`AdminClient is closing|The AdminClient thread has exited|Cannot accept new calls|WakeupException|InterruptedException|thread is shutting down`)
)

// classify keeps what the event is a sign of. Exceptions stand in the trace.
func (k *keeper) classify(e *event, message, flow, connector string) {
	if e.level != "WARN" && e.level != "ERROR" && e.level != "FATAL" {
		return
	}
	if closing.MatchString(e.trace) || closing.MatchString(message) {
		return
	}
	keep := func(s snapshot.LogSign) { k.add(e, s, message, flow, connector) }
	for _, id := range bugsOf(e) {
		keep(snapshot.LogSign{Kind: id, Group: groupIn(message)})
	}
	refused := unableToSync.FindStringSubmatch(message)
	switch {
	case refused != nil && refused[2] != "":
		keep(snapshot.LogSign{Kind: GroupActive, Group: refused[1]})
	case storeLoad.MatchString(message):
		keep(snapshot.LogSign{Kind: StoreLoadFailed})
	case syncFailure.MatchString(message):
		keep(snapshot.LogSign{Kind: SyncLost})
	case taskEnded.MatchString(message):
		k.add(e, snapshot.LogSign{Kind: TaskFailed}, withCause(message, e.trace), flow, connector)
	case refused != nil && !denied.MatchString(e.trace):
		k.add(e, snapshot.LogSign{Kind: CommitRefused, Group: refused[1]}, withCause(message, e.trace), flow, connector)
	}
	if denied.MatchString(message) || denied.MatchString(e.trace) {
		k.denial(e, message, flow, connector)
	}
}

// denial keeps what is refused, one sign for each topic or group that the text names.
func (k *keeper) denial(e *event, message, flow, connector string) {
	whole := message + "\n" + e.trace
	text := message
	if !denied.MatchString(message) {
		text = withCause(message, e.trace)
	}
	group := groupIn(message)
	if m := deniedGroup.FindStringSubmatch(whole); m != nil && group == "" {
		group = strings.TrimRight(m[1]+m[2]+m[3], ".")
	}
	var topics []string
	for _, re := range []*regexp.Regexp{deniedTopics, deniedOne} {
		if m := re.FindStringSubmatch(whole); m != nil {
			topics = append(topics, strings.Split(m[1], ",")...)
		}
	}
	if m := deniedParts.FindStringSubmatch(whole); m != nil && strings.Contains(whole, "TopicAuthorization") {
		for p := range strings.SplitSeq(m[1], ",") {
			p = strings.TrimSpace(p)
			if i := strings.LastIndexByte(p, '-'); i > 0 {
				topics = append(topics, p[:i])
			}
		}
	}
	seen := map[string]bool{}
	for _, t := range topics[:min(len(topics), 20)] {
		if t = strings.TrimSpace(t); t != "" && !seen[t] {
			seen[t] = true
			k.add(e, snapshot.LogSign{Kind: AclDenied, Topic: t, Group: group}, text, flow, connector)
		}
	}
	if len(seen) == 0 {
		k.add(e, snapshot.LogSign{Kind: AclDenied, Group: group}, text, flow, connector)
	}
}

// groupIn is the group that one of MirrorMaker 2's own messages is about.
func groupIn(message string) string {
	if m := unableToSync.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

// withCause puts the last exception of the trace behind the message.
func withCause(message, trace string) string {
	cause := ""
	for line := range strings.Lines(trace) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "...") || line == "" {
			continue
		}
		line = strings.TrimPrefix(line, "Caused by: ")
		if i := strings.Index(line, "Exception"); i > 0 || strings.Contains(line, "Error") {
			cause = line
		}
	}
	if cause == "" {
		return message
	}
	return message + " - " + cause
}
