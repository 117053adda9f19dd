// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/registration"
	"berth.dev/berth/test/integration/internal/testsize"
)

var manyClusters = testsize.Of(1000, 300)

const (
	manyClients = 16
	// window is within how many requests those about one name are sent, so that they meet.
	window = 48
)

// task is a request to be sent.
type task struct {
	action action
	name   string
}

// tasks registers all names, some twice, and some while they are being unregistered.
func tasks(random *rand.Rand) []task {
	var all []task
	for i := range manyClusters {
		name := fmt.Sprintf("many-%04d", i)
		all = append(all, task{doRegister, name})
		if i%3 == 0 {
			all = append(all, task{doRegister, name}, task{doGet, name})
		}
		if i%5 == 0 {
			all = append(all, task{doUnregister, name}, task{doRegister, name}, task{doUnregister, name}, task{doGet, name})
		}
	}
	for start := 0; start < len(all); start += window {
		part := all[start:min(start+window, len(all))]
		random.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	return all
}

// perform sends a request to a gateway and says what came of it. Any other answer is a failure.
func perform(ctx context.Context, url string, t task) (operation, error) {
	method, path, body := http.MethodPost, clusters, small(t.name)
	switch t.action {
	case doGet:
		method, path, body = http.MethodGet, clusters+"/name/"+t.name, ""
	case doUnregister:
		method, path, body = http.MethodDelete, clusters+"/name/"+t.name, ""
	}
	got, err := try(ctx, url, registrar, method, path, body)
	if err != nil {
		return operation{}, err
	}
	o := operation{action: t.action}
	switch got.status {
	case http.StatusOK, http.StatusCreated:
		o.done = true
	case http.StatusConflict, http.StatusNotFound:
		return o, nil
	default:
		return o, fmt.Errorf("%s %s: status %d: %s", method, path, got.status, got.body)
	}
	if t.action != doUnregister {
		var document registration.Document
		err = json.Unmarshal([]byte(got.body), &document)
		o.id = document.Profile.ID
	}
	return o, err
}

// listAll returns the ids of all clusters by name, as a gateway lists them.
func listAll(ctx context.Context, url string) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	next := ""
	for {
		got := sendTo(ctx, url, registrar, http.MethodGet, clusters+"?limit=300"+next, "")
		var list registration.List
		Expect(json.Unmarshal([]byte(got.body), &list)).To(Succeed(), got.body)
		for _, profile := range list.Clusters {
			Expect(found).NotTo(HaveKey(profile.Name))
			found[profile.Name] = profile.ID
		}
		if list.Continue == "" {
			return found
		}
		next = "&continue=" + list.Continue
	}
}

var _ = Describe("Two gateways", func() {
	It("register many clusters for sixteen clients as if one after the other", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) {
			Expect(berth.BerthV1alpha1().Clusters().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
		})
		seed := GinkgoRandomSeed()
		h, queue := newHistory(), make(chan task)
		var group sync.WaitGroup
		for i := range manyClients {
			url := gateways[i%len(gateways)]
			group.Go(func() {
				defer GinkgoRecover()
				for t := range queue {
					h.note(t.name, func() operation {
						o, err := perform(ctx, url, t)
						Expect(err).NotTo(HaveOccurred())
						return o
					})
				}
			})
		}
		for _, t := range tasks(rand.New(rand.NewPCG(uint64(seed), 0))) {
			queue <- t
		}
		close(queue)
		group.Wait()

		By("comparing what the two gateways and the API server have")
		left := listAll(ctx, gateways[0])
		Expect(listAll(ctx, gateways[1])).To(Equal(left))
		Expect(len(left)).To(BeNumerically(">", manyClusters*3/4))
		for name, operations := range h.names {
			last := operation{action: doGet, start: h.clock.Add(1), end: h.clock.Add(1), done: left[name] != "", id: left[name]}
			operations = append(operations, last)
			Expect(linearizable(operations)).To(BeTrue(), "%s with seed %d: %v", name, seed, operations)
		}

		By("looking for an id that was given twice")
		given := map[string]string{}
		for name, operations := range h.names {
			for _, o := range operations {
				if o.action == doRegister && o.done {
					Expect(given).NotTo(HaveKey(o.id), name)
					given[o.id] = name
				}
			}
		}
		for name, id := range left {
			got := sendTo(ctx, gateways[len(name)%2], registrar, http.MethodGet, clusters+"/id/"+id, "")
			Expect(profileOf(got, http.StatusOK).Name).To(Equal(name))
		}
	})
})

var _ = DescribeTable("A history", func(want bool, operations ...operation) {
	Expect(linearizable(operations)).To(Equal(want))
},
	Entry("of one after the other", true,
		operation{doRegister, 1, 2, true, "a"}, operation{doGet, 3, 4, true, "a"}, operation{doUnregister, 5, 6, true, ""},
		operation{doGet, 7, 8, false, ""}, operation{doRegister, 9, 10, true, "b"}),
	Entry("of two at once of which one wins", true, operation{doRegister, 1, 4, true, "a"}, operation{doRegister, 2, 3, false, ""}),
	Entry("of two at once that both win", false, operation{doRegister, 1, 4, true, "a"}, operation{doRegister, 2, 3, true, "b"}),
	Entry("of a cluster seen before it was there", false, operation{doGet, 1, 2, true, "a"}, operation{doRegister, 3, 4, true, "a"}),
	Entry("of a cluster not seen any more", false, operation{doRegister, 1, 2, true, "a"}, operation{doGet, 3, 4, false, ""}),
	Entry("of a cluster with another id", false, operation{doRegister, 1, 2, true, "a"}, operation{doGet, 3, 4, true, "b"}),
	Entry("of a cluster unregistered twice", false, operation{doRegister, 1, 2, true, "a"},
		operation{doUnregister, 3, 6, true, ""}, operation{doUnregister, 4, 5, true, ""}),
)
