// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/test/internal/record"
	"berth.dev/berth/test/simulation/apiserver"
	"berth.dev/berth/test/simulation/draw"
)

const (
	// fuzzing is how long objects are made, changed and deleted, and settling how long all conditions
	// may take to be about what is there now. After resting, in which each Scheduler gets to try what
	// fits nowhere, nothing may be written while idle.
	fuzzing  = time.Minute
	settling = time.Minute
	resting  = 15 * time.Minute
	idle     = time.Minute
)

// fuzz is what makes the objects of a fuzzed world.
type fuzz struct {
	*World
	source draw.Source
	made   []drawn
}

// drawn is an object that was made.
type drawn struct {
	apiserver.Definition
	name string
}

// Fuzz runs a world in which random objects of all kinds of Berth, as their definitions allow them,
// are made, changed and deleted, and nothing goes wrong otherwise. The error is a promise that was
// broken: that every process stays up, every condition is settled within a minute, and nothing is
// written while nothing happens. It must be called in a synctest bubble.
func Fuzz(options *Options) (*World, error) {
	w, err := begin(options)
	if err != nil {
		return nil, err
	}
	w.server.Validates, w.fuzzed = true, true
	f := &fuzz{World: w, source: draw.Source{
		Rng:   rand.New(rand.NewPCG(w.seed, 4)), //nolint:gosec // it is to be the same every time
		Names: []string{"app-0", "app-1", "licence", "default", "east", "b-0", "b-1", "b-2", "b-3"},
		Often: 0.5,
		// Where they point nothing is served, and there is no network in a bubble.
		LeaveOut: []string{"prometheus", "ksqldb", "kafka"},
	}}
	for site := range w.sites {
		f.source.Names = append(f.source.Names, siteName(site))
	}
	// The scheduler and the controllers run before the first object comes.
	for n := range f.source.Rng.IntN(80) + 20 {
		name, at := fmt.Sprintf("change %d", n), 10*time.Second+time.Duration(f.source.Rng.Int64N(int64(fuzzing)))
		rng := rand.New(rand.NewPCG(w.seed, 1000+uint64(n))) //nolint:gosec // it is the same with fewer others
		if w.exists(name) {
			w.after(at, func() {
				f.source.Rng = rng
				f.change()
			})
		}
	}
	if err := w.pass(10*time.Second + fuzzing + settling); err != nil {
		return w, err
	}
	if left := f.unsettled(); len(left) > 0 {
		return w, fmt.Errorf("%s after the last change: %s", settling, strings.Join(left, "; "))
	}
	if err := w.pass(resting); err != nil {
		return w, err
	}
	before, from := w.Counts.Writes.Sum()-w.Counts.Writes[leaseRenewal], len(w.Writes)
	if err := w.pass(idle); err != nil {
		return w, err
	}
	if n := w.Counts.Writes.Sum() - w.Counts.Writes[leaseRenewal] - before; n > 0 {
		return w, fmt.Errorf("%d writes within %s in which nothing happened: %s", n, idle, kindsOf(w.Writes[from:]))
	}
	return w, nil
}

const leaseRenewal = "update leases"

// kindsOf counts writes by kind.
func kindsOf(writes []Write) string {
	counts := record.Counts{}
	for _, write := range writes {
		counts[write.Kind]++
	}
	return fmt.Sprint(counts)
}

// change makes, changes or deletes an object.
func (f *fuzz) change() {
	if n := f.source.Rng.IntN(10); n < 6 || len(f.made) == 0 {
		f.add()
		return
	} else if n == 9 {
		i := f.source.Rng.IntN(len(f.made))
		o := f.made[i]
		f.made = slices.Delete(f.made, i, i+1)
		f.write("delete", o, nil)
		return
	}
	o := f.made[f.source.Rng.IntN(len(f.made))]
	f.write("patch", o, object{"spec": f.spec(o.Definition)})
}

// add makes an object of any kind. What rules refuse is drawn again, with fewer fields.
func (f *fuzz) add() {
	kinds := f.server.Definitions()
	kind := kinds[f.source.Rng.IntN(len(kinds))]
	for _, often := range []float64{0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0} {
		f.source.Often = often
		name := f.source.Names[f.source.Rng.IntN(len(f.source.Names))]
		o := drawn{kind, name}
		body := object{
			"metadata": object{"name": name, "labels": object{siteLabel: siteName(f.source.Rng.IntN(f.sites))}}, "spec": f.spec(kind),
		}
		if f.write("create", o, body) {
			f.made = append(f.made, o)
			return
		}
	}
}

func (f *fuzz) spec(kind apiserver.Definition) any {
	schema := kind.Schema.Properties["spec"]
	return f.source.Value("spec", &schema)
}

// write sends a request of a user, and reports whether it was carried out.
func (f *fuzz) write(verb string, o drawn, body any) bool {
	in, name := "", o.name
	if o.Namespaced {
		in = namespace
	}
	if verb == "create" {
		name = ""
	}
	answer := f.server.Serve(apiserver.NewRequest(verb, o.Resource, in, name, "", body))
	text, _ := json.Marshal(body) //nolint:errchkjson // it was sent already
	if answer.Code >= 300 {
		f.notef("a user is refused: %s %s %s: %s", verb, o.Resource.Resource, o.name, answer.Body)
		return false
	}
	f.Counts.Others++
	f.Counts.Disturbances[verb+" "+o.Resource.Resource]++
	f.notef("a user: %s %s %s %s", verb, o.Resource.Resource, o.name, text)
	return true
}

// unsettled returns what is not about what is there now: objects whose status is of an older
// generation, as a whole or in a condition. A FeedInventory tells of its Subscription's instead,
// whose condition Parsed is written in the same pass.
func (f *fuzz) unsettled() []string {
	var list []string
	for _, kind := range f.server.Definitions() {
		f.server.Each(kind.Resource, func(raw []byte) {
			found := struct {
				metav1.ObjectMeta `json:"metadata"`
				Spec              struct {
					Suspend bool `json:"suspend"`
				} `json:"spec"`
				Status struct {
					ObservedGeneration *int64             `json:"observedGeneration"`
					Conditions         []metav1.Condition `json:"conditions"`
				} `json:"status"`
			}{}
			if err := json.Unmarshal(raw, &found); err != nil {
				list = append(list, err.Error())
				return
			}
			if found.Spec.Suspend {
				return // nothing is decided about it, and its status says what was decided last
			}
			what := kind.Resource.Resource + " " + found.Name
			if seen := found.Status.ObservedGeneration; seen != nil && *seen != found.Generation && kind.Resource.Resource != "feedinventories" {
				list = append(list, fmt.Sprintf("the status of %s is of generation %d, not %d", what, *seen, found.Generation))
			}
			for _, c := range found.Status.Conditions {
				if c.ObservedGeneration != 0 && c.ObservedGeneration != found.Generation {
					list = append(list, fmt.Sprintf("condition %s of %s is of generation %d, not %d", c.Type, what, c.ObservedGeneration, found.Generation))
				}
			}
		})
	}
	slices.Sort(list)
	return list
}
