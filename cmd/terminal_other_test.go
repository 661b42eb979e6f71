//go:build !linux

package cmd

import (
	"errors"
	"os/exec"
)

func onTerminal(*exec.Cmd, string) (string, error) {
	return "", errors.New("a pseudo terminal is only opened on Linux")
}
