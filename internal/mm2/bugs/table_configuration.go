package bugs

var invalidProtocol = line("ERROR", `Invalid value \S+ for configuration security\.protocol: String must be one of: .*`, "org.apache.kafka.common.config.ConfigException").proves()

var configuration = []Bug{
	{
		ID: "MINOR-9313", Component: Configuration, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..2.8.0"),
		Title:      "Client settings of a cluster do not reach the clients",
		Effect:     "Up to 2.7 keys such as A.consumer.x in the properties file change nothing, and auto.offset.reset is always earliest.",
		Conditions: []Condition{dedicated, when("the configuration has A.consumer.x or A.producer.x", (*Facts).clusterClientKeys)},
		Workaround: "Keys of the form A->B.consumer.x; upgrade to 2.8.0 or later.",
	},
	{
		ID: "KAFKA-13365", Component: Configuration, Status: Open, Impact: Cosmetic, Affects: spans("2.4.0.."),
		Title:      "A->B.producer.x does not reach the producer of mirrored data",
		Effect:     "That producer belongs to the Connect worker and does not see the key.",
		Conditions: []Condition{when("the configuration has A->B.producer.x", (*Facts).flowProducerKeys)},
		Workaround: "B.producer.x for the worker, or A->B.producer.override.x where the worker's override policy allows it.",
	},
	{
		ID: "KAFKA-10710", Component: Configuration, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..2.7.1"),
		Title:      "A worker for each pair of clusters, used or not",
		Effect:     "Unused directions get workers and worker topics in both clusters: extra load and confusing logs.",
		Conditions: []Condition{dedicated},
		Workaround: "With the fix: B->A.enabled=false and B->A.emit.heartbeats.enabled=false.",
	},
	{
		ID: "KAFKA-13793", Component: Configuration, Status: Change, Impact: Missing, Affects: spans("3.3.0..3.5.1"),
		Title:      "3.3.0 validates more settings",
		Effect:     "security.protocol became case-sensitive with it (KAFKA-15053).",
		Conditions: []Condition{lowerCase},
		Logs:       []LogPattern{invalidProtocol},
		Workaround: "Write the value in capitals.",
	},
	{
		ID: "KAFKA-15053", Component: Configuration, Status: Fixed, Impact: Missing, Affects: spans("3.3.0..3.5.1"), Branches: []string{"3.3", "3.4"},
		Title:      "security.protocol in small letters is refused",
		Effect:     "A value that worked up to 3.2 keeps the connectors from starting.",
		Conditions: []Condition{lowerCase},
		Logs:       []LogPattern{invalidProtocol},
		Workaround: "Write the value in capitals.",
	},
	{
		ID: "KAFKA-14413", Component: Configuration, Status: Change, Impact: Cosmetic, Affects: spans("3.4.0.."),
		Title:      "Each connector validates its own keys only",
		Effect:     "In Connect mode a key that belongs to another connector is reported as unknown. Dedicated mode hands on all keys as before.",
		Workaround: "None needed.",
	},
	{
		ID: "KAFKA-14653", Component: Configuration, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..3.5.0"),
		Title:      "Provided secrets are stored in clear text",
		Effect:     "Values from config providers are resolved on the driver and written as they are to mm2-configs. A leader without the file resolves something else.",
		Conditions: []Condition{dedicated, when("config providers are used", func(f *Facts) Answer { return f.ConfigProviders })},
		Workaround: "Upgrade. Later releases need the provider in the worker's own settings (KAFKA-17192).",
	},
	{
		ID: "KAFKA-17192", Component: Configuration, Status: Fixed, Impact: Missing, Affects: spans("3.5.0..3.7.2", "3.8.0..3.8.1"),
		Title:  "The worker is not told of config.providers",
		Effect: "The worker of dedicated mode knows no provider, so the placeholder itself reaches the clients: failed logins, addresses that do not resolve. Converters set at top level are lost in the same way.",
		Conditions: []Condition{
			dedicated,
			when("config providers are used, or converters are set without a prefix", func(f *Facts) Answer { return either(f.ConfigProviders, f.bareConverters()) }),
		},
		Signs:      []Sign{sign("clients show the placeholder itself", nil)},
		Workaround: "Give the provider per cluster as well (B.config.providers), or fill in the values before the start; upgrade.",
	},
	{
		ID: "KAFKA-15086", Component: Configuration, Status: Fixed, Impact: Missing, Affects: spans("2.4.0..3.5.0"),
		Title:      "Nodes of dedicated mode cannot talk to each other (KIP-710)",
		Effect:     "Nodes other than the leader cannot hand on new task settings. New groups and topics are found and never worked on until a restart.",
		Conditions: []Condition{dedicated, manyNodes, unseen("a node that does not lead found the change")},
		Signs:      []Sign{signSilent},
		Logs: []LogPattern{
			line("ERROR", `Request to leader to reconfigure connector tasks failed`, "").proves(),
			line("ERROR", `Invalid URI host: null \(authority: null\)`, "").proves(),
			line("ERROR", `This worker is not able to communicate with the leader of the cluster, which is required for dynamically-reconfiguring connectors\.`, "").
				note("3.5.0 and later without dedicated.mode.enable.internal.rest"),
		},
		Workaround: "One node for each flow, or restart all nodes; from 3.5.0 on dedicated.mode.enable.internal.rest=true with listeners.",
	},
	{
		ID: "KAFKA-9981", Component: Configuration, Status: Fixed, Impact: Missing, Affects: spans("2.4.0..3.5.0"),
		Title:      "New settings are lost with more than one dedicated node",
		Effect:     "The first report of what KAFKA-15086 solves.",
		Conditions: []Condition{dedicated, manyNodes, unseen("a node that does not lead found the change")},
		Signs:      []Sign{signSilent},
		Workaround: "As for KAFKA-15086.",
	},
	{
		ID: "KAFKA-15372", Component: Configuration, Status: Fixed, Impact: Stale, Affects: spans("2.4.0..3.6.2"), AtRestart: true,
		Title:  "A rolling restart can lose changed settings",
		Effect: "Only a node that leads at its own start submits the file. Nodes that restart one by one may leave the old settings in force.",
		Conditions: []Condition{
			dedicated, manyNodes,
			when("settings were changed by a rolling restart", func(f *Facts) Answer { return f.ConfigChanged }),
		},
		Signs: []Sign{signInForce},
		Logs: []LogPattern{
			line("INFO", `This node is a follower for .*\. Using existing connector configuration\.`, "").note("3.5.0 to 3.6.1: the file of this node is not used"),
			line("INFO", `Connector .* is a follower\. Using existing configuration\.`, "").note("3.4 and older: the file of this node is not used"),
		},
		Workaround: "Stop all nodes, then start them; upgrade to 3.6.2 or later.",
	},
	{
		ID: "KAFKA-14838", Component: Configuration, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..3.5.0"),
		Title:      "All clients have the same client.id",
		Effect:     "JMX complains, and quotas count them together. Offsets are not concerned.",
		Logs:       []LogPattern{line("WARN", `Error registering AppInfo mbean`, "javax.management.InstanceAlreadyExistsException").note("some later releases still write it, for their workers")},
		Workaround: "Ignore it.",
	},
	{
		ID: "KAFKA-17435", Component: Configuration, Status: Change, Impact: Cosmetic, Affects: spans("4.0.0.."),
		Title:      "4.0 dropped two switches",
		Effect:     "use.incremental.alter.configs and add.source.alias.to.metrics are ignored. Offsets are not concerned.",
		Signs:      []Sign{sign("the configuration has one of the keys", keyEnds("use.incremental.alter.configs", "add.source.alias.to.metrics"))},
		Workaround: "Remove the keys.",
	},
	{
		ID: "KAFKA-17007", Component: Configuration, Status: Fixed, Impact: Cosmetic, Affects: spans("2.4.0..3.9.0"),
		Title:      "Flows were compared wrongly",
		Effect:     "No effect that an operator could see is known.",
		Workaround: "None needed.",
	},
}
