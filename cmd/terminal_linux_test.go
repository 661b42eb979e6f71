package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// onTerminal runs a command on a pseudo terminal: it types text once a question stands there ("^C" interrupts), and gives all that
// was shown, without carriage returns.
func onTerminal(c *exec.Cmd, text string) (string, error) {
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer m.Close()
	var n, unlock int32
	if err := errors.Join(ioctl(m, syscall.TIOCGPTN, &n), ioctl(m, syscall.TIOCSPTLCK, &unlock)); err != nil {
		return "", err
	}
	s, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	c.Stdin, c.Stdout, c.Stderr = s, s, s
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		s.Close()
		return "", err
	}
	s.Close()
	var mu sync.Mutex
	var b bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		asked := false
		for {
			k, err := m.Read(buf)
			mu.Lock()
			b.Write(buf[:k])
			if !asked && strings.Contains(b.String(), "Type the alias") {
				asked = true
				if text == "^C" {
					m.WriteString("\x03")
				} else {
					m.WriteString(text + "\n")
				}
			}
			mu.Unlock()
			if err != nil { // the last process on the other side has ended
				return
			}
		}
	}()
	timer := time.AfterFunc(60*time.Second, func() { c.Process.Kill() })
	defer timer.Stop()
	_ = c.Wait()
	<-done
	return strings.ReplaceAll(b.String(), "\r", ""), nil
}

func ioctl(f *os.File, request uintptr, v *int32) error {
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(v))); e != 0 {
		return e
	}
	return nil
}
