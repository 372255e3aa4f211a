// Package conformance runs the conformance suite of the Gateway API. To the suite's own flags it adds the names of the
// tests to run, and it prints a line of JSON after each test, for the suite says only at its end how they went.
package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
)

var onlyTests = flag.String("only-tests", "", "Comma-separated names of the tests to run, instead of all")

// outcome is the line that is printed after a test.
type outcome struct {
	Test string `json:"test"`
	// passed, failed, skipped, unsupported (for want of features) or deselected (by flags).
	Result  string                 `json:"result"`
	Seconds float64                `json:"seconds"`
	Missing []features.FeatureName `json:"missing,omitempty"`
}

func TestConformance(t *testing.T) {
	options := conformance.DefaultOptions(t)
	mustExist(t, options.SkipTests)
	if *onlyTests != "" {
		wanted := strings.Split(*onlyTests, ",")
		mustExist(t, wanted)
		options.SkipTests = append(options.SkipTests, allBut(wanted)...)
	}
	begun := rememberBeginnings()
	options.Hook = func(t *testing.T, test suite.ConformanceTest, s *suite.ConformanceTestSuite) {
		var seconds float64
		if at, ok := begun.Load(test.ShortName); ok {
			seconds = time.Since(at.(time.Time)).Seconds()
		}
		missing := slices.DeleteFunc(slices.Clone(test.Features), s.SupportedFeatures.Has)
		line, err := json.Marshal(outcome{test.ShortName, resultOf(t, test, s, missing), seconds, missing})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\n%s\n", line)
	}
	conformance.RunConformanceWithOptions(t, options)
}

func resultOf(t *testing.T, test suite.ConformanceTest, s *suite.ConformanceTestSuite, missing []features.FeatureName) string {
	switch {
	case t.Failed():
		return "failed"
	case !t.Skipped():
		return "passed"
	case s.SkipTests.Has(test.ShortName):
		return "deselected"
	case len(missing) > 0:
		return "unsupported"
	default:
		return "skipped"
	}
}

// rememberBeginnings gives the map into which every test puts the time of its beginning.
func rememberBeginnings() *sync.Map {
	var begun sync.Map
	for i := range tests.ConformanceTests {
		test := &tests.ConformanceTests[i]
		name, run := test.ShortName, test.Test
		test.Test = func(t *testing.T, s *suite.ConformanceTestSuite) {
			begun.Store(name, time.Now())
			run(t, s)
		}
	}
	return &begun
}

// allBut names every test of the suite except the wanted ones.
func allBut(wanted []string) []string {
	var others []string
	for _, test := range tests.ConformanceTests {
		if !slices.Contains(wanted, test.ShortName) {
			others = append(others, test.ShortName)
		}
	}
	return others
}

// mustExist fails unless the suite has tests of all these names: it takes no offence itself.
func mustExist(t *testing.T, names []string) {
	all := allBut(nil)
	unknown := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(all, name) })
	if len(unknown) > 0 {
		t.Fatalf("the suite has no tests of these names: %s", strings.Join(unknown, ", "))
	}
}
