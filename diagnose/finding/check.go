package finding

// Kinds is a set of kinds of facts. A check declares the kinds it needs and uses; a test compares the declaration with what
// the check touched.
type Kinds uint64

// Kinds of facts.
const (
	Configured       Kinds = 1 << iota // the operator's file
	Running                            // the configuration MirrorMaker 2 stored
	Settings                           // the value in force: running, else configured, with defaults
	Tasks                              // states of connectors and tasks
	AssignedTo                         // groups of the checkpoint tasks
	SyncsTopic                         // the offset-syncs topic as a whole
	SyncsOf                            // the syncs of one partition
	SyncsElse                          // an offset-syncs topic on the other cluster
	CheckpointsOf                      // the checkpoint of one group and partition
	CheckpointSet                      // the checkpoints topic as a whole
	SourceTopic                        // the topic on the source
	SourceLog                          // its start and end
	TargetTopic                        // the copy on the target
	TargetLog                          // its start and end
	SourceGroups                       // the list of groups on the source
	SourceGroup                        // state and type of one
	SourceOffset                       // U
	TargetGroup                        // state and members on the target
	TargetOffset                       // T
	EarlierLook                        // the look before this one
	FirstContact                       // how the first contact with a cluster went
	Generation                         // which MirrorMaker 2 it is
	InternalTopics                     // MirrorMaker 2's own topics: settings, replicas, leaders
	TopicConfigs                       // settings of a user's topic, on either cluster
	BrokerSettings                     // settings of the brokers
	AclRules                           // the rules of a cluster
	SourcePositions                    // how far the source connector has come
	TargetEpochs                       // leader epochs of the copy
	SyncsOthers                        // further offset-syncs topics
	CheckpointsElse                    // a checkpoints topic on the source
	CheckpointStarts                   // when checkpoint tasks started
	LogSigns                           // what MirrorMaker 2's log says
	OtherFlows                         // the other flows of the snapshot
	Heartbeats                         // heartbeats of the flow
	OtherGroups                        // groups of the target beyond the one in question
)

// Grain says what a check runs over.
type Grain int

// Grains.
const (
	OnSnapshot Grain = iota
	OnCluster
	OnFlow
	OnTopic
	OnPartition // of a source topic that some group reads
	OnGroup
	OnGroupPartition
)
