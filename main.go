// Command mm2doctor names the broken link of MirrorMaker 2's consumer-offset chain, proves it and repairs it.
package main

import (
	"os"

	"github.com/mm2doctor/mm2doctor/cmd"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

func main() {
	os.Exit(cmd.Main(os.Args[1:], term.Standard()))
}
