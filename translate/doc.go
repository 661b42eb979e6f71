// Package translate brings offsets from one cluster to the other, as pure code: MirrorMaker 2's own store by generation,
// when a checkpoint or a sync is written, and (in sub-packages) plans and simulations.
//
// What may enter: arithmetic over syncs and positions. No connection, no clock, no file, nothing of the doctor.
package translate
