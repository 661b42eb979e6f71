// Package confdoc reads configuration texts and keeps where everything stands: properties files, JSON, YAML.
//
// What may enter: lexers and parsers that turn bytes into values with line and column, and edits of those texts. No
// meaning of any key, no file access.
package confdoc
