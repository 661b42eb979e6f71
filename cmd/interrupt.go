package cmd

import "context"

// await runs work that takes no context, and gives up on it at an interrupt: what it does after that reaches nobody, so it must change
// nothing outside of the process.
func await(ctx context.Context, work func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
