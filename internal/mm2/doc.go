// Package mm2 says what MirrorMaker 2 means: its records, names, policies, filters, releases and generations, as values
// and pure functions.
//
// What may enter: knowledge of MirrorMaker 2 that needs no connection, no clock and no file. It imports nothing but
// internal/kafka, internal/javaregex (filters are Java's regular expressions) and the standard library. Rules that changed
// with a release carry the release or the KAFKA/KIP number.
package mm2
