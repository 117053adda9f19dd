// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// watchLag is how much later than the scheduler an extender knows of a decision: a binding and an
// event of a watch on one machine.
const watchLag = 5 * time.Millisecond

// extender shares pods out over sites by HTTP, as the first node-group proposal has it. It looks up
// a site in a map and counts in an array; there is nothing to make faster but the protocol.
type extender struct {
	site   map[string]int // which chosen site a node lies in
	shares []int64
	counts atomic.Pointer[[]atomic.Int64]
	// byName takes names of nodes instead of whole nodes.
	byName bool
}

// newExtender starts an extender on a port of the loopback interface. It stops when the context
// ends.
func newExtender(ctx context.Context, l *layout, byName bool, replicas int) (*extender, schedulerconfig.Extender, error) {
	e := &extender{site: map[string]int{}, byName: byName}
	e.reset(len(l.chosen))
	index := map[string]int{}
	for s, site := range l.chosen {
		index[site] = s
		e.shares = append(e.shares, int64(l.shares(replicas)[site]))
	}
	for node, site := range l.siteOf {
		if s, chosen := index[site]; chosen {
			e.site[node] = s
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, schedulerconfig.Extender{}, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/filter", e.filter)
	mux.HandleFunc("/prioritize", e.prioritize)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: startTimeout}
	go server.Serve(listener) //nolint:errcheck // it ends with the context
	context.AfterFunc(ctx, func() { server.Close() })
	return e, schedulerconfig.Extender{
		URLPrefix: "http://" + listener.Addr().String(), FilterVerb: "filter", PrioritizeVerb: "prioritize", Weight: 10,
		HTTPTimeout: metav1.Duration{Duration: startTimeout}, NodeCacheCapable: byName,
	}, nil
}

// bound tells the extender, after the lag of its watch, that a pod has been placed.
func (e *extender) bound(node string) {
	counts := e.counts.Load()
	if s, chosen := e.site[node]; chosen {
		time.AfterFunc(watchLag, func() { (*counts)[s].Add(1) })
	}
}

// reset makes the extender forget all pods, also those it is about to hear of.
func (e *extender) reset(sites int) {
	counts := make([]atomic.Int64, sites)
	e.counts.Store(&counts)
}

// lacks returns how many pods the site of a node lacks, and false for nodes of other sites.
func (e *extender) lacks(node string) (int64, bool) {
	s, chosen := e.site[node]
	if !chosen {
		return 0, false
	}
	return e.shares[s] - (*e.counts.Load())[s].Load(), true
}

func (e *extender) filter(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result := extenderv1.ExtenderFilterResult{FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{}}
	admits := func(node string) bool {
		if lack, chosen := e.lacks(node); chosen && lack > 0 {
			return true
		}
		result.FailedAndUnresolvableNodes[node] = "site has its share"
		return false
	}
	if e.byName {
		names := []string{}
		for _, node := range *args.NodeNames {
			if admits(node) {
				names = append(names, node)
			}
		}
		result.NodeNames = &names
	} else {
		result.Nodes = &corev1.NodeList{}
		for i := range args.Nodes.Items {
			if admits(args.Nodes.Items[i].Name) {
				result.Nodes.Items = append(result.Nodes.Items, args.Nodes.Items[i])
			}
		}
	}
	reply(w, &result)
}

func (e *extender) prioritize(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var most int64 = 1
	for _, share := range e.shares {
		most = max(most, share)
	}
	scores := extenderv1.HostPriorityList{}
	score := func(node string) {
		lack, _ := e.lacks(node)
		scores = append(scores, extenderv1.HostPriority{Host: node, Score: max(lack, 0) * extenderv1.MaxExtenderPriority / most})
	}
	if e.byName {
		for _, node := range *args.NodeNames {
			score(node)
		}
	} else {
		for i := range args.Nodes.Items {
			score(args.Nodes.Items[i].Name)
		}
	}
	reply(w, scores)
}

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
