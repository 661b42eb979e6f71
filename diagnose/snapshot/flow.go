package snapshot

// Flow is everything known of one direction of mirroring, source to target, beyond the clusters themselves.
type Flow struct {
	Source string `json:"source"` // alias
	Target string `json:"target"` // alias

	// Mode tells where the configuration comes from: "dedicated" (mm2.properties), "connect", "strimzi" (a KafkaMirrorMaker2
	// resource, whose operator makes the connectors of a Connect cluster), "msk-connect" (connectors that MSK Connect runs),
	// "discovered" (bare addresses).
	Mode string `json:"mode"`
	File string `json:"file,omitempty"`

	// In Connect mode: the worker's REST address (without credentials), its version, the cluster it is attached to, and what
	// the connectors are called.
	ConnectURL          string `json:"connectUrl,omitempty"`
	WorkerVersion       string `json:"workerVersion,omitempty"`
	WorkerCluster       string `json:"workerCluster,omitempty"`
	SourceConnector     string `json:"sourceConnector,omitempty"`
	CheckpointConnector string `json:"checkpointConnector,omitempty"`
	// Resource is where the flow stands in Kubernetes, in mode "strimzi".
	Resource *Resource `json:"resource,omitempty"`

	// Configured is the configuration in the operator's file, resolved per connector; unknown with bare addresses.
	Configured Fact[Connectors] `json:"configured,omitzero"`
	// Running is the configuration that MirrorMaker 2 itself stored (mm2-configs in dedicated mode, REST in Connect mode).
	Running Fact[Connectors] `json:"running,omitzero"`
	// Tasks are the states of connectors and tasks from mm2-status (or REST), by connector and task.
	Tasks Fact[[]TaskStatus] `json:"tasks,omitzero"`
	// Assigned are the groups that the checkpoint tasks were given, newest list; Time is that record's timestamp.
	Assigned Fact[Assigned] `json:"assigned,omitzero"`

	// Policy is how names are made. Names are those expected by the configuration; with bare addresses those found.
	Policy      Policy `json:"policy"`
	SyncsTopic  string `json:"syncsTopic"` // expected name
	SyncsOn     string `json:"syncsOn"`    // alias of the cluster where it is expected
	Checkpoints string `json:"checkpointsTopic"`
	Heartbeats  string `json:"heartbeatsTopic"`

	// Syncs is the folded offset-syncs topic; absent when there is no such topic on SyncsOn.
	Syncs Fact[Syncs] `json:"syncs,omitzero"`
	// SyncsElsewhere is a topic that holds syncs of this flow on the other cluster (location=target against source).
	SyncsElsewhere Fact[TopicRef] `json:"syncsElsewhere,omitzero"`
	// Checkpointed is the folded checkpoints topic; absent when there is no such topic on the target.
	Checkpointed Fact[Checkpoints] `json:"checkpoints,omitzero"`
	// Heartbeat is the newest heartbeat of this flow, ms.
	Heartbeat Fact[int64] `json:"heartbeat,omitzero"`

	// SyncsOthers are further topics on either cluster that hold offset syncs of this flow's source or target by another name
	// (separator, alias, location); sorted by cluster, topic. SyncsElsewhere is one of them.
	SyncsOthers Fact[[]TopicRef] `json:"syncsOthers,omitzero"`
	// CheckpointsElsewhere is a topic of this flow's checkpoints on the source: the worker is attached to the wrong cluster.
	CheckpointsElsewhere Fact[TopicRef] `json:"checkpointsElsewhere,omitzero"`
	// Positions are how far the source connector has come, from its stored source offsets (mm2-offsets in dedicated mode, REST
	// from Connect 3.6 on, KIP-875); sorted by topic, partition.
	Positions Fact[[]Position] `json:"positions,omitzero"`
	// CheckpointStarts are the times, ms, at which a checkpoint task went to RUNNING, as far as mm2-status still holds them;
	// oldest first, the newest 50.
	CheckpointStarts Fact[[]int64] `json:"checkpointStarts,omitzero"`
	// Principal is whom MirrorMaker 2 connects as, as far as its configuration tells ("User:mm2").
	Principal Principals `json:"principal,omitzero"`
	// Log is what MirrorMaker 2's own log files say, where some were given.
	Log Fact[Log] `json:"log,omitzero"`
}

// Resource is a KafkaMirrorMaker2 resource and the entry of its spec.mirrors that makes a flow.
type Resource struct {
	APIVersion string `json:"apiVersion"`
	Namespace  string `json:"namespace,omitempty"` // empty: the one in use
	Name       string `json:"name"`
	Mirror     int    `json:"mirror"` // index in spec.mirrors
	// Sections are the maps of the entry that exist (sourceConnector, sourceConnector.config, ...): a patch has to make the others.
	Sections []string `json:"sections,omitempty"`
	// WorkerOn is the alias of the cluster that the worker is attached to, WorkerPath where that cluster stands (spec.target).
	WorkerOn   string `json:"workerOn,omitempty"`
	WorkerPath string `json:"workerPath,omitempty"`
}

// Principals are the names by which MirrorMaker 2 is known on the two clusters; empty where not known.
type Principals struct {
	Source string `json:"source,omitempty"`
	Target string `json:"target,omitempty"`
}

// Position is the offset of the last record of a source partition that the source connector has mirrored and committed.
type Position struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Time      int64  `json:"time,omitempty"` // ms, when it was stored; 0 where REST does not tell
}

// Log is what the doctor took out of MirrorMaker 2's log files: no line is kept that carries settings or records.
type Log struct {
	Files   []string  `json:"files"`
	Version string    `json:"version,omitempty"` // "Kafka version: …", the newest start
	First   int64     `json:"first,omitempty"`   // ms
	Last    int64     `json:"last,omitempty"`
	Signs   []LogSign `json:"signs"` // by kind, text
}

// LogSign is one kind of line that tells something: Kind is a bug's id (KAFKA-n), or a word of package evidence. Text is the
// line's message, shortened and with secrets removed.
type LogSign struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Group string `json:"group,omitempty"`
	Topic string `json:"topic,omitempty"`
	Count int    `json:"count"`
	First int64  `json:"first,omitempty"`
	Last  int64  `json:"last,omitempty"`
}

// Name gives "a->b".
func (f Flow) Name() string { return f.Source + "->" + f.Target }

// TopicRef is a topic on a cluster.
type TopicRef struct {
	Cluster string `json:"cluster"`
	Topic   string `json:"topic"`
	Records int64  `json:"records,omitempty"`
	Last    int64  `json:"last,omitempty"` // ms, newest record; 0 where not known
}

// Policy is a replication policy, as configured or found. Class is the full class name; empty is the default policy.
type Policy struct {
	Class             string `json:"class"`
	Separator         string `json:"separator"`
	InternalSeparator string `json:"internalSeparator"`
}

// Connectors are the settings of the three connectors and of the worker; sorted by key.
type Connectors struct {
	Enabled    bool          `json:"enabled"`
	Source     []ConfigEntry `json:"source,omitempty"`
	Checkpoint []ConfigEntry `json:"checkpoint,omitempty"`
	Heartbeat  []ConfigEntry `json:"heartbeat,omitempty"`
	Worker     []ConfigEntry `json:"worker,omitempty"`
	Time       int64         `json:"time,omitempty"` // ms, of the newest record, for a running configuration
}

// TaskStatus is one row of mm2-status. Task is -1 for the connector itself.
type TaskStatus struct {
	Connector string `json:"connector"` // short class: MirrorSourceConnector, MirrorCheckpointConnector, MirrorHeartbeatConnector
	Task      int    `json:"task"`
	State     string `json:"state"` // RUNNING, PAUSED, FAILED, UNASSIGNED, STOPPED, RESTARTING, DESTROYED
	Worker    string `json:"worker,omitempty"`
	Trace     string `json:"trace,omitempty"` // first line
	Version   string `json:"version,omitempty"`
	Time      int64  `json:"time"` // ms, of the record
}

// Assigned is the group list of the checkpoint tasks, as MirrorMaker 2 wrote it down. Tasks is how many task
// configurations exist; with no group that passes, there are none.
type Assigned struct {
	Groups []string `json:"groups"` // sorted
	Tasks  int      `json:"tasks"`
	Time   int64    `json:"time"` // ms, when the list last changed
}

// Syncs is the folded offset-syncs topic. History is "fold": enough for the newest translation of every generation, not
// for questions about the past. "ranges": every partition has its Epochs too.
type Syncs struct {
	Cluster    string           `json:"cluster"`
	Topic      string           `json:"topic"`
	History    string           `json:"history"`
	Start      int64            `json:"start"`
	End        int64            `json:"end"`
	Records    int64            `json:"records"`
	First      int64            `json:"first,omitempty"`     // ms, oldest record
	Last       int64            `json:"last,omitempty"`      // ms, newest record
	TaskStart  int64            `json:"taskStart,omitempty"` // ms, of the checkpoint tasks, as known when the topic was read
	Partitions []PartitionSyncs `json:"partitions"`          // by source topic, partition
	// How many checkpoints were seen to follow from some sync by the one rule or the other, and when the newest such one was
	// written (ms): counted on from it (up to 3.4.0), or one past it (from 3.4.1 on).
	CountedOn     int64 `json:"countedOn,omitempty"`
	CountedOnLast int64 `json:"countedOnLast,omitempty"`
	OnePast       int64 `json:"onePast,omitempty"`
	OnePastLast   int64 `json:"onePastLast,omitempty"`
	// CountedOnShown and OnePastShown are the newest such checkpoint of each kind with the sync that it follows from.
	CountedOnShown *Explained  `json:"countedOnShown,omitempty"`
	OnePastShown   *Explained  `json:"onePastShown,omitempty"`
	Rhythm         *Rhythm     `json:"rhythm,omitempty"`
	Bad            []BadRecord `json:"bad,omitempty"`
	BadCount       int64       `json:"badCount,omitempty"`
}

// Explained is a checkpoint and the offset sync that it follows from.
type Explained struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Sync       Sync       `json:"sync"`
}

// Rhythm is what the distances between the syncs of a partition tell of the rule by which they were written (MirrorMaker 2's
// source task; KAFKA-12468 in 3.4.1, KAFKA-15906 in 3.7.0). Only syncs equally far apart on both sides count: there is no gap
// between them that would have asked for one.
type Rhythm struct {
	Step        int64 `json:"step"`                  // offset.lag.max + 1, the distance looked for
	StepKnown   bool  `json:"stepKnown,omitempty"`   // false: the setting is not known, and its default was taken
	WaitedOver  int64 `json:"waitedOver"`            // ms, longer than two commits of source offsets take
	SourceStart int64 `json:"sourceStart,omitempty"` // ms, of the source tasks, as known when the topic was read

	// Steps are syncs exactly one step after an earlier one: the rule of 3.4.1 and later. Exact are those without any in between,
	// Ones are syncs of neighbouring records.
	Steps     int64 `json:"steps,omitempty"`
	Exact     int64 `json:"exact,omitempty"`
	Ones      int64 `json:"ones,omitempty"`
	StepsLast int64 `json:"stepsLast,omitempty"`
	// Between are steps, within an hour, with further syncs in between: those of commits, from 3.7.0 on.
	Between     int64 `json:"between,omitempty"`
	BetweenLast int64 `json:"betweenLast,omitempty"`
	// Short are syncs nearer than a step to the one before: a commit (3.7.0), or the first of a task. SinceStart are those that
	// no start lies between. Dense are the eighth and further ones of a partition within an hour.
	Short      int64 `json:"short,omitempty"`
	ShortLast  int64 `json:"shortLast,omitempty"`
	SinceStart int64 `json:"sinceStart,omitempty"`
	Dense      int64 `json:"dense,omitempty"`
	DenseLast  int64 `json:"denseLast,omitempty"`
	// Waited are steps with nothing in between that took longer than WaitedOver: up to 3.6.2 nothing is written before the step
	// is full.
	Waited     int64 `json:"waited,omitempty"`
	WaitedLast int64 `json:"waitedLast,omitempty"`
	// CommitGap is the shortest time between syncs of commits that was seen several times, ms.
	CommitGap int64 `json:"commitGap,omitempty"`

	ShownCommit *SyncsShown `json:"shownCommit,omitempty"` // newest of Between, SinceStart or Dense
	ShownStep   *SyncsShown `json:"shownStep,omitempty"`   // newest of Steps
	ShownWaited *SyncsShown `json:"shownWaited,omitempty"` // newest of Waited
}

// SyncsShown are some syncs of one partition, in the order of the topic.
type SyncsShown struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Syncs     []Sync `json:"syncs"`
}

// PartitionSyncs is what is left of one source partition's syncs after folding.
type PartitionSyncs struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Count     int64  `json:"count"`
	Rewinds   int64  `json:"rewinds,omitempty"` // how often S.up or S.down went back, or one of them stayed while the other went on
	// DownBack is how many of them took S.down back: another writer, or another target topic.
	DownBack int64 `json:"downBack,omitempty"`
	// LastRewind is the newest step back: the sync before it and the sync after it.
	LastRewind *Rewind `json:"lastRewind,omitempty"`
	Oldest     Sync    `json:"oldest"` // first in the topic
	Newest     Sync    `json:"newest"`
	// Greedy and TwoPointer are MirrorMaker 2's 64 slots when the whole topic is read with history kept, by the algorithm of
	// G3 and of G4/G5, as runs of equal syncs, newest first.
	Greedy     []Run `json:"greedy,omitempty"`
	TwoPointer []Run `json:"twoPointer,omitempty"`
	// The same for a task that began at Syncs.TaskStart and knew nothing but the newest sync then, as G3 and G4 do
	// (KAFKA-15905).
	GreedySince     []Run `json:"greedySince,omitempty"`
	TwoPointerSince []Run `json:"twoPointerSince,omitempty"`
	// Epochs are all syncs of the topic, oldest first, where the history is "ranges". Thinned says that stretches within them were
	// left out to save space, Lost that oldest epochs were.
	Epochs  []Epoch     `json:"epochs,omitempty"`
	Thinned bool        `json:"thinned,omitempty"`
	Lost    *LostEpochs `json:"lost,omitempty"`
}

// Sync is one offset sync: both offsets of the same record. Offset and Time are those of the record in the topic.
type Sync struct {
	Up     int64 `json:"up"`
	Down   int64 `json:"down"`
	Offset int64 `json:"offset"`
	Time   int64 `json:"time"`
}

// Rewind is a step back between two syncs that follow each other in the topic.
type Rewind struct {
	Before Sync `json:"before"`
	After  Sync `json:"after"`
}

// Run is a sync that fills the slots from Slot up to the next run's.
type Run struct {
	Slot int  `json:"slot"`
	Sync Sync `json:"sync"`
}

// Checkpoints is the folded checkpoints topic: the newest record for each group and target-side partition.
type Checkpoints struct {
	Topic   string       `json:"topic"`
	Start   int64        `json:"start"`
	End     int64        `json:"end"`
	Records int64        `json:"records"`
	First   int64        `json:"first,omitempty"`
	Last    int64        `json:"last,omitempty"`
	Newest  []Checkpoint `json:"newest"` // by group, topic, partition
	// Repeats are records that neither go back upstream nor advance downstream against the one before of their group and
	// partition: each round up to 3.4.0, a start of the task up to 3.7.0, never after. EmitGap is the shortest time between two
	// records of one group and partition that was seen several times, ms.
	Repeats     int64       `json:"repeats,omitempty"`
	RepeatsLast int64       `json:"repeatsLast,omitempty"`
	EmitGap     int64       `json:"emitGap,omitempty"`
	Bad         []BadRecord `json:"bad,omitempty"`
	BadCount    int64       `json:"badCount,omitempty"`
}

// Checkpoint is C: C.up the committed source position, C.down its translation. Topic is the name on the target.
type Checkpoint struct {
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Up        int64  `json:"up"`
	Down      int64  `json:"down"`
	Metadata  string `json:"metadata,omitempty"`
	Offset    int64  `json:"offset"`
	Time      int64  `json:"time"`
}

// BadRecord is a record that is not what its topic should hold; it is reported, never skipped silently.
type BadRecord struct {
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Reason    string `json:"reason"`
	// Null says that its key or value is null, which breaks MirrorMaker 2's readers in another way than bytes that do not decode.
	Null bool `json:"null,omitempty"`
}
