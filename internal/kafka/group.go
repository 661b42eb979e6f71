package kafka

// GroupState is the state of a group in the broker's words.
type GroupState string

// States of all group types. Dead is also what brokers answer for a group that does not exist (up to 3.9), and for a
// group of another type that is asked for by the classic DescribeGroups.
const (
	StateUnknown             GroupState = "Unknown"
	StatePreparingRebalance  GroupState = "PreparingRebalance"
	StateCompletingRebalance GroupState = "CompletingRebalance"
	StateStable              GroupState = "Stable"
	StateEmpty               GroupState = "Empty"
	StateDead                GroupState = "Dead"
	StateAssigning           GroupState = "Assigning"   // KIP-848
	StateReconciling         GroupState = "Reconciling" // KIP-848
	StateNotReady            GroupState = "NotReady"    // KIP-1071
)

// Active says that the group has members, so that the broker refuses an admin commit with UNKNOWN_MEMBER_ID.
func (s GroupState) Active() bool {
	switch s {
	case StatePreparingRebalance, StateCompletingRebalance, StateStable, StateAssigning, StateReconciling:
		return true
	}
	return false
}

// GroupType is the type of a group (ListGroups v5, brokers from 3.8); empty where the broker does not tell.
type GroupType string

// Group types of Kafka 4.x.
const (
	TypeClassic  GroupType = "classic"
	TypeConsumer GroupType = "consumer" // KIP-848
	TypeShare    GroupType = "share"    // KIP-932
	TypeStreams  GroupType = "streams"  // KIP-1071
)
