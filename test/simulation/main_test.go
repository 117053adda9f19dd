// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulation_test runs simulated worlds, each in a process of its own: what Kubernetes
// keeps globally would otherwise connect them.
package simulation_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"berth.dev/berth/test/simulation/apiserver"
	"berth.dev/berth/test/simulation/world"
)

var (
	seedFlag     = flag.String("seed", "", "the first seed, a number")
	durationFlag = flag.String("duration", "", "how long to go on with the next seeds, such as 60s; without it one seed")
	traceFlag    = flag.Bool("trace", false, "print the history of the first seed as it happens")
	worldFlag    = flag.Bool("world", false, "be the process of one world; for the program itself")
	killsFlag    = flag.Bool("kills", false, "kill the processes of the first seed's world before and after each of their writes")
	killFlag     = flag.String("kill", "", "leave the world undisturbed, and kill who sends the write of this name")
	afterFlag    = flag.Bool("after", false, "kill after the write, not before it")
	scenarioFlag = flag.String("scenario", "", "file with a seed and with what to leave out of its world, instead of a seed")
	fuzzFlag     = flag.Bool("fuzz", false, "worlds of random objects of all kinds, in which nothing goes wrong otherwise")
	recordFlag   = flag.String("record", "", "folder of the record to add to, and of its page")
	shrinkFlag   = flag.Duration("shrink", time.Minute, "how long to look for what suffices to break a promise that was broken")
	timesFlag    = flag.String("times", "", "how often to run the world of the seed, to compare the histories")
	orderFlag    = flag.String("order", "", "a number: have the same world go on in another order, which is the same every time, too")
	weekFlag     = flag.String("week", "", "live with many Applications instead: for how long, how many, and how many Clusters, such as 168h:200:30")
	profileFlag  = flag.String("profile", "", "file for the CPU profile of a world; with -world only")
)

// finished gets what the process of a world exits with. It is no channel of the bubble.
var finished = make(chan int)

// The codes that the program ends with.
const (
	exitInput    = 1
	exitViolated = 2
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case *worldFlag:
		// Within a bubble this would begin to watch for signals by a channel of the bubble.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR1)
		klog.SetLogger(logr.Discard())
		ctrl.SetLogger(logr.Discard())
		// They hold whoever reports an error back for a while since the last one, which was in real time.
		utilruntime.ErrorHandlers = nil
		utilruntime.PanicHandlers = append(utilruntime.PanicHandlers, crash)
		stop := profile()
		go func() { finished <- m.Run() }()
		code := <-finished
		stop()
		os.Exit(code)
	case *killsFlag:
		os.Exit(sweep())
	case *timesFlag != "":
		os.Exit(simulateAgain())
	case *seedFlag != "" || *durationFlag != "" || *scenarioFlag != "":
		os.Exit(simulate())
	}
	os.Exit(m.Run())
}

// crash ends the process of a world in which somebody has panicked, also if that would be survived.
func crash(_ context.Context, reason any) {
	fmt.Fprintf(os.Stderr, "panic: %v\n\n%s\n", reason, debug.Stack())
	os.Exit(exitViolated)
}

// profile begins a CPU profile if one is wanted, and returns what ends it.
func profile() (stop func()) {
	if *profileFlag == "" {
		return func() {}
	}
	file, err := os.Create(*profileFlag)
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return pprof.StopCPUProfile
}

// order is what the flags ask for.
type order struct {
	// first is the seed to begin with, length how long to go on with the next ones.
	first  uint64
	length time.Duration
	// order is in which order it goes on, 0 or more.
	order uint64
	// leaveOut is what a scenario leaves out.
	leaveOut []string
}

// input reads the flags.
func input() (asked order, err error) {
	asked.first = 1
	if *seedFlag != "" {
		if asked.first, err = strconv.ParseUint(*seedFlag, 10, 64); err != nil {
			return asked, fmt.Errorf("SEED=%.40s is no seed: it must be a whole number from 0 on", *seedFlag)
		}
	}
	if asked.order, err = orderOf(*orderFlag); err != nil {
		return asked, err
	}
	if *durationFlag != "" {
		if asked.length, err = time.ParseDuration(*durationFlag); err != nil || asked.length <= 0 {
			return asked, fmt.Errorf("DURATION=%.40s is no duration: it must be like 60s, 10m or 1h", *durationFlag)
		}
	}
	if *scenarioFlag == "" {
		return asked, nil
	}
	if (*seedFlag != "" || *durationFlag != "") && !*worldFlag {
		return asked, errors.New("SCENARIO is one world, and names its seed: it goes with neither SEED nor DURATION")
	}
	told, err := readScenario(*scenarioFlag)
	if err != nil {
		return asked, err
	}
	asked.first, asked.leaveOut = *told.Seed, told.LeaveOut
	return asked, nil
}

// orderOf reads the number of an order, 0 unless one is given.
func orderOf(text string) (order uint64, err error) {
	if text == "" {
		return 0, nil
	}
	if order, err = strconv.ParseUint(text, 10, 16); err != nil {
		return 0, fmt.Errorf("ORDER=%.40s is no order: it must be a whole number from 0 to 65535", text)
	}
	return order, nil
}

// result is what the process of a world tells.
type result struct {
	Violation string
	Digest    string
	Virtual   time.Duration
	Counts    world.Counts
	Names     []string
	History   string
	// Writes are those of a world that is not disturbed.
	Writes []world.Write
}

// resultMark begins the line with the result.
const resultMark = "RESULT "

// TestWorld is the world of one seed. The process ends with it, since what Kubernetes starts does
// not.
func TestWorld(t *testing.T) {
	if !*worldFlag {
		t.Skip("run by the other tests")
	}
	asked, err := input()
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := apiserver.Definitions(filepath.Join("..", "..", "manifests", "crds"))
	if err != nil {
		t.Fatal(err)
	}
	week, err := weekOf(*weekFlag)
	if err != nil {
		t.Fatal(err)
	}
	options := &world.Options{Seed: asked.first, Skip: asked.leaveOut, Definitions: definitions, Trace: io.Discard}
	if *killsFlag {
		options.Undisturbed, options.Kill = true, &world.Kill{Write: *killFlag, After: *afterFlag}
	}
	if *traceFlag {
		options.Trace = os.Stderr
	}
	// Kubernetes has random numbers of its own, which begin with the time at which the process did.
	utilrand.Seed(int64(asked.first))
	cryptotest.SetGlobalRandom(t, asked.first)
	// Who draws next gets another number then.
	for range asked.order {
		rand.Uint64()
	}
	synctest.Test(t, func(*testing.T) {
		began := time.Now()
		w, violation := simulation(week)(options)
		w.Stop()
		r := result{Digest: w.Digest(), Virtual: time.Since(began), Counts: w.Counts, Names: w.Names()}
		if options.Undisturbed {
			r.Writes = w.Writes
		}
		if violation != nil {
			r.Violation, r.History = violation.Error(), w.Tail(400)
			if *traceFlag {
				pprof.Lookup("goroutine").WriteTo(os.Stderr, 1) //nolint:errcheck // for who looks for the cause
			}
		}
		tell(os.Stdout, &r)
		finished <- 0
		select {} // the process ends
	})
}

// simulation returns what is done with the world.
func simulation(week *world.Week) func(*world.Options) (*world.World, error) {
	switch {
	case week != nil:
		return func(options *world.Options) (*world.World, error) { return world.Live(options, week) }
	case *fuzzFlag:
		return world.Fuzz
	}
	return world.Simulate
}

func tell(out io.Writer, r *result) {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(out, "\n%s%s\n", resultMark, text)
}

// A world that is full of faults keeps its promises.
func TestAFewWorlds(t *testing.T) {
	judged := 0
	for _, seed := range []uint64{1, 2} {
		r, err := runWorld(t.Context(), seed, nil)
		if err == nil {
			judged++
		}
		switch {
		case errors.Is(err, errTooSlow):
			t.Logf("seed %d is not judged: %v", seed, err)
		case err != nil:
			t.Errorf("seed %d: %v", seed, err)
		case r.Violation != "":
			t.Errorf("seed %d: %s\n%s", seed, r.Violation, r.History)
		}
	}
	if judged == 0 && !t.Failed() {
		t.Skip("this machine is too slow to judge a world within its time")
	}
}

func TestInputThatIsNone(t *testing.T) {
	for name, test := range map[string]struct{ seed, duration, scenario, want string }{
		"no number":             {seed: "abc", want: "SEED=abc is no seed"},
		"a negative seed":       {seed: "-1", want: "SEED=-1 is no seed"},
		"no duration":           {seed: "1", duration: "long", want: "DURATION=long is no duration"},
		"no scenario":           {scenario: "seed: [", want: "SCENARIO=FILE does not parse: "},
		"a scenario of nothing": {scenario: "leaveOut: []", want: "SCENARIO=FILE does not parse: it has no seed"},
		"a field that is none":  {scenario: "seed: 1\nleavout: []", want: "SCENARIO=FILE does not parse: "},
		"a seed and a scenario": {seed: "1", scenario: "seed: 2", want: "SCENARIO is one world"},
	} {
		t.Run(name, func(t *testing.T) {
			before, length, file := *seedFlag, *durationFlag, *scenarioFlag
			t.Cleanup(func() { *seedFlag, *durationFlag, *scenarioFlag = before, length, file })
			*seedFlag, *durationFlag, *scenarioFlag = test.seed, test.duration, ""
			if test.scenario != "" {
				*scenarioFlag = filepath.Join(t.TempDir(), "scenario.yaml")
				if err := os.WriteFile(*scenarioFlag, []byte(test.scenario), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := input()
			if err == nil {
				t.Fatal("it is taken")
			}
			said := err.Error()
			if *scenarioFlag != "" {
				said = strings.ReplaceAll(said, *scenarioFlag, "FILE")
			}
			if !strings.HasPrefix(said, test.want) || strings.Contains(said, "\n") {
				t.Errorf("the error is %q, want %s, on one line", said, test.want)
			}
		})
	}
}

// What was written for somebody to repeat is read as it was.
func TestAScenarioIsReadAsItWasWritten(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	seed := uint64(1) << 63
	file, err := (&scenario{&seed, []string{"workload app-0", "scheduler-a: create pods/binding default/app-0-1-5 #1"}}).write()
	if err != nil {
		t.Fatal(err)
	}
	got, err := readScenario(file)
	if err != nil {
		t.Fatal(err)
	}
	if *got.Seed != seed || len(got.LeaveOut) != 2 || got.LeaveOut[1] != "scheduler-a: create pods/binding default/app-0-1-5 #1" {
		t.Errorf("it is read as seed %d without %q", *got.Seed, got.LeaveOut)
	}
}

func TestARaceIsFoundInWhatAProcessSays(t *testing.T) {
	for said, want := range map[string]string{
		"": "", "1h0m0s: 12 requests\n": "",
		"1h0m0s\n==================\nWARNING: DATA RACE\nWrite at": "WARNING: DATA RACE\nWrite at",
		raceMark + strings.Repeat("x", 2*mostSaid):                 raceMark + strings.Repeat("x", mostSaid),
	} {
		if got := raceIn(said); got != want {
			t.Errorf("%.60q: %.60q, want %.60q", said, got, want)
		}
	}
}

func TestWhatHoldsAWorldUp(t *testing.T) {
	const lock = "goroutine 3 gp=0x1 m=nil [sync.Mutex.Lock, 2 minutes, synctest bubble 1]:\nsomebody.Locks()"
	for name, test := range map[string]struct{ traces, want string }{
		"a lock that is not given": {
			traces: "SIGQUIT: quit\n\ngoroutine 1 [chan receive]:\nmain.main()\n\n" +
				"goroutine 2 [select (durable), synctest bubble 1]:\nsomebody.Waits()\n\n" + lock + "\n\nrax 0x0",
			want: "; 1 goroutines hold it up\n\n" + lock,
		},
		"a slow machine": {traces: "goroutine 2 [select (durable), synctest bubble 1]:\nsomebody.Waits()"},
		"nothing said":   {},
	} {
		t.Run(name, func(t *testing.T) {
			if got := standing(test.traces); got != test.want {
				t.Errorf("it is told %q, want %q", got, test.want)
			}
		})
	}
}
