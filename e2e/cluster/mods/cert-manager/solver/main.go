// Command solver is cert-manager's answer to HTTP-01 challenges, with the flags that its controller starts it with.
package main

import (
	"flag"
	"log"

	"github.com/cert-manager/cert-manager/pkg/issuer/acme/http/solver"
	"github.com/go-logr/logr"
)

func main() {
	s := solver.HTTP01Solver{}
	flag.IntVar(&s.ListenPort, "listen-port", 8089, "")
	flag.StringVar(&s.Domain, "domain", "", "")
	flag.StringVar(&s.Token, "token", "", "")
	flag.StringVar(&s.Key, "key", "", "")
	flag.Parse()
	log.Fatal(s.Listen(logr.Discard()))
}
