//go:build tools

// Package tools pins the echo server in go.mod.
package tools

import (
	_ "sigs.k8s.io/gateway-api-conformance-images/echo-basic"
)
