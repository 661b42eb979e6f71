package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/docs"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

func newExplain(s *term.Streams) *cobra.Command {
	list := false
	c := &cobra.Command{
		Use:     "explain [CODE|WORDS...]",
		Short:   "Print the page of a code, offline",
		Example: "  mm2doctor explain MM2D-302\n  mm2doctor explain negative lag\n  mm2doctor explain --list",
		RunE: func(_ *cobra.Command, args []string) error {
			if list || len(args) == 0 {
				return listCodes(s.Out)
			}
			return explain(s.Out, args)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "all codes, a line each")
	return c
}

func listCodes(w io.Writer) error {
	for _, e := range finding.Codes {
		if _, err := fmt.Fprintf(w, "%s  %-7s  %-34s %s\n", e.Code, e.Severity, e.Slug, e.Title); err != nil {
			return err
		}
	}
	return nil
}

func explain(w io.Writer, args []string) error {
	words := strings.Join(args, " ")
	if page, ok := docs.Page(words); ok {
		_, err := io.WriteString(w, page)
		return err
	}
	if page, ok := docs.Guide(words); ok {
		_, err := io.WriteString(w, page)
		return err
	}
	hits := docs.Search(words)
	switch len(hits) {
	case 0:
		return usage("no page about %q; see mm2doctor explain --list", words)
	case 1:
		page, _ := docs.Page(hits[0])
		_, err := io.WriteString(w, page)
		return err
	}
	for _, h := range hits {
		fmt.Fprintln(w, docs.Title(h))
	}
	fmt.Fprintf(w, "\nOne of them: mm2doctor explain %s\n", hits[0])
	return nil
}
