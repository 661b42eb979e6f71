package kafka

import "fmt"

// ErrorCode is a broker's error code. Zero is no error.
type ErrorCode int16

// The codes that the doctor decides by.
const (
	OffsetOutOfRange           ErrorCode = 1
	UnknownTopicOrPartition    ErrorCode = 3
	LeaderNotAvailable         ErrorCode = 5
	NotLeaderOrFollower        ErrorCode = 6
	OffsetMetadataTooLarge     ErrorCode = 12
	CoordinatorLoadInProgress  ErrorCode = 14
	CoordinatorNotAvailable    ErrorCode = 15
	NotCoordinator             ErrorCode = 16
	IllegalGeneration          ErrorCode = 22
	InvalidGroupID             ErrorCode = 24
	UnknownMemberID            ErrorCode = 25
	RebalanceInProgress        ErrorCode = 27
	InvalidCommitOffsetSize    ErrorCode = 28
	TopicAuthorizationFailed   ErrorCode = 29
	GroupAuthorizationFailed   ErrorCode = 30
	ClusterAuthorizationFailed ErrorCode = 31
	UnsupportedSASLMechanism   ErrorCode = 33
	IllegalSASLState           ErrorCode = 34
	UnsupportedVersion         ErrorCode = 35
	InvalidRequest             ErrorCode = 42
	SecurityDisabled           ErrorCode = 54
	SASLAuthenticationFailed   ErrorCode = 58
	NonEmptyGroup              ErrorCode = 68
	GroupIDNotFound            ErrorCode = 69
	FencedLeaderEpoch          ErrorCode = 74
	GroupSubscribedToTopic     ErrorCode = 86
	UnstableOffsetCommit       ErrorCode = 88
	StaleMemberEpoch           ErrorCode = 113
)

var names = map[ErrorCode]string{
	-1: "UNKNOWN_SERVER_ERROR", 1: "OFFSET_OUT_OF_RANGE", 2: "CORRUPT_MESSAGE", 3: "UNKNOWN_TOPIC_OR_PARTITION", 5: "LEADER_NOT_AVAILABLE",
	6: "NOT_LEADER_OR_FOLLOWER", 7: "REQUEST_TIMED_OUT", 8: "BROKER_NOT_AVAILABLE", 9: "REPLICA_NOT_AVAILABLE", 12: "OFFSET_METADATA_TOO_LARGE",
	13: "NETWORK_EXCEPTION", 14: "COORDINATOR_LOAD_IN_PROGRESS", 15: "COORDINATOR_NOT_AVAILABLE", 16: "NOT_COORDINATOR", 17: "INVALID_TOPIC_EXCEPTION",
	22: "ILLEGAL_GENERATION", 23: "INCONSISTENT_GROUP_PROTOCOL", 24: "INVALID_GROUP_ID", 25: "UNKNOWN_MEMBER_ID", 27: "REBALANCE_IN_PROGRESS", 28: "INVALID_COMMIT_OFFSET_SIZE",
	29: "TOPIC_AUTHORIZATION_FAILED", 30: "GROUP_AUTHORIZATION_FAILED", 31: "CLUSTER_AUTHORIZATION_FAILED", 33: "UNSUPPORTED_SASL_MECHANISM",
	34: "ILLEGAL_SASL_STATE", 35: "UNSUPPORTED_VERSION", 41: "NOT_CONTROLLER", 42: "INVALID_REQUEST", 54: "SECURITY_DISABLED", 56: "KAFKA_STORAGE_ERROR",
	58: "SASL_AUTHENTICATION_FAILED", 68: "NON_EMPTY_GROUP", 69: "GROUP_ID_NOT_FOUND", 72: "LISTENER_NOT_FOUND", 74: "FENCED_LEADER_EPOCH",
	75: "UNKNOWN_LEADER_EPOCH", 76: "UNSUPPORTED_COMPRESSION_TYPE", 78: "OFFSET_NOT_AVAILABLE", 86: "GROUP_SUBSCRIBED_TO_TOPIC",
	87: "INVALID_RECORD", 88: "UNSTABLE_OFFSET_COMMIT", 89: "THROTTLING_QUOTA_EXCEEDED", 100: "UNKNOWN_TOPIC_ID",
	82: "FENCED_INSTANCE_ID", 110: "FENCED_MEMBER_EPOCH", 113: "STALE_MEMBER_EPOCH", 124: "FENCED_STATE_EPOCH",
}

// Name gives the constant of Kafka's protocol guide, or the number.
func (c ErrorCode) Name() string {
	if n, ok := names[c]; ok {
		return n
	}
	return fmt.Sprintf("error code %d", int16(c))
}

func (c ErrorCode) Error() string { return c.Name() }

// Denied says that an ACL stands behind the code.
func (c ErrorCode) Denied() bool {
	return c == TopicAuthorizationFailed || c == GroupAuthorizationFailed || c == ClusterAuthorizationFailed
}

// Retriable says that the same request may succeed a moment later, after a fresh look-up of leader or coordinator.
// UNKNOWN_TOPIC_OR_PARTITION counts only for a while: metadata spreads slowly.
func (c ErrorCode) Retriable() bool {
	switch c {
	case 3, 5, 6, 7, 8, 9, 13, 14, 15, 16, 56, 72, 74, 75, 78, 88:
		return true
	}
	return false
}
