// Package bugs is the catalogue of Kafka issues and fixed behaviours that change what MirrorMaker 2 does with consumer
// offsets, and the judgement whether one of them is at work.
//
// What may enter: facts about released versions as data, and pure predicates over Facts. It imports internal/mm2 and
// internal/kafka only; it reads no cluster, file or clock. Nothing is ever called a fault because of a version number
// alone: such an entry ranks MayApply and says so.
package bugs
