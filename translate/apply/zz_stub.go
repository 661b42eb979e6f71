package apply

import "github.com/mm2doctor/mm2doctor/internal/wire"

func NewTarget(c *wire.Client) Target { return nil }
func NewSource(c *wire.Client) Source { return nil }
