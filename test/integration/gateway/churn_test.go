// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/registration"
)

const (
	// churnEnv names the environment variable that says how long the clients go on, such as "2m".
	churnEnv      = "BERTH_GATEWAY_CHURN"
	churnDuration = 5 * time.Second
	churnNames    = 24
)

// written is a version of a cluster that a request has made. Each has a price of its own, by which
// it is known again.
type written struct {
	id    string
	price int64
	// version is the resourceVersion that the answer told, and before the one that If-Match named.
	version, before int64
	tag             string
}

// seen is what a request was told of a cluster.
type seen struct {
	written
	start, end int64
}

// listed is a whole list, and removal when a cluster was unregistered.
type listed struct {
	version    int64
	prices     map[string]int64 // by id
	start, end int64
}

// churn is all that clients have sent and heard.
type churn struct {
	clock, price atomic.Int64

	mu       sync.Mutex
	writes   map[string][]seen // by id
	reads    []seen
	lists    []listed
	removals map[string]seen // by id
}

func (c *churn) note(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// step sends one request about a name, or for a list.
func (c *churn) step(ctx context.Context, random *rand.Rand, url string) error {
	path := fmt.Sprintf("%s/name/churn-%02d", clusters, random.IntN(churnNames))
	switch random.IntN(8) {
	case 0, 1:
		return c.write(ctx, url, http.MethodPost, clusters, path[strings.LastIndexByte(path, '/')+1:], seen{})
	case 2, 3:
		return c.write(ctx, url, http.MethodPatch, path, "", seen{})
	case 4:
		current, err := c.read(ctx, url, path)
		if err != nil || current.version == 0 {
			return err
		}
		return c.write(ctx, url, http.MethodPatch, path, "", current)
	case 5:
		return c.remove(ctx, url, path)
	case 6:
		return c.list(ctx, url)
	default:
		_, err := c.read(ctx, url, path)
		return err
	}
}

func (c *churn) write(ctx context.Context, url, method, path, name string, before seen) error {
	price := c.price.Add(1)
	body := fmt.Sprintf(`{"cluster_profile":{"cluster_spec":{"ServerPrice":%d}}}`, price)
	var headers []string
	switch {
	case name != "":
		body = strings.Replace(small(name), `"Region"`, fmt.Sprintf(`"ServerPrice":%d,"Region"`, price), 1)
	case before.tag != "":
		headers = []string{"If-Match", before.tag}
	}
	got, err := c.send(ctx, url, method, path, body, headers...)
	if err != nil || got.version == 0 {
		return err
	}
	got.before = before.version
	c.note(func() { c.writes[got.id] = append(c.writes[got.id], got) })
	return nil
}

func (c *churn) read(ctx context.Context, url, path string) (seen, error) {
	got, err := c.send(ctx, url, http.MethodGet, path, "")
	if err == nil && got.version != 0 {
		c.note(func() { c.reads = append(c.reads, got) })
	}
	return got, err
}

func (c *churn) remove(ctx context.Context, url, path string) error {
	current, err := c.read(ctx, url, path)
	if err != nil || current.version == 0 {
		return err
	}
	start := c.clock.Add(1)
	answer, err := try(ctx, url, registrar, http.MethodDelete, clusters+"/id/"+current.id, "")
	if err != nil || answer.status == http.StatusNotFound {
		return err
	}
	if answer.status != http.StatusOK {
		return fmt.Errorf("DELETE: status %d: %s", answer.status, answer.body)
	}
	c.note(func() { c.removals[current.id] = seen{start: start, end: c.clock.Add(1)} })
	return nil
}

// send sends a request about one cluster. The version is 0 if the answer is that there is no such
// cluster, that it is there already, or that it is not the one that was seen.
func (c *churn) send(ctx context.Context, url, method, path, body string, headers ...string) (seen, error) {
	got := seen{start: c.clock.Add(1)}
	answer, err := try(ctx, url, registrar, method, path, body, headers...)
	if err != nil {
		return got, err
	}
	got.end = c.clock.Add(1)
	switch answer.status {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed:
		return got, nil
	case http.StatusOK, http.StatusCreated:
	default:
		return got, fmt.Errorf("%s %s: status %d: %s", method, path, answer.status, answer.body)
	}
	var document registration.Document
	if err := json.Unmarshal([]byte(answer.body), &document); err != nil {
		return got, err
	}
	got.id, got.price = document.Profile.ID, document.Profile.Spec.ServerPrice
	got.tag = answer.header.Get("ETag")
	version, _, _ := strings.Cut(strings.Trim(got.tag, `"`), ".")
	got.version, err = strconv.ParseInt(version, 10, 64)
	return got, err
}

// list reads all clusters, page by page. All pages are of one moment.
func (c *churn) list(ctx context.Context, url string) error {
	got := listed{prices: map[string]int64{}, start: c.clock.Add(1)}
	for next := ""; ; {
		answer, err := try(ctx, url, registrar, http.MethodGet, clusters+"?limit=7"+next, "")
		if err != nil {
			return err
		}
		var page registration.List
		if err := json.Unmarshal([]byte(answer.body), &page); err != nil || answer.status != http.StatusOK {
			return fmt.Errorf("listing: status %d: %s: %w", answer.status, answer.body, err)
		}
		version, err := strconv.ParseInt(page.ResourceVersion, 10, 64)
		if err != nil || got.version != 0 && got.version != version {
			return fmt.Errorf("a page of version %q follows one of %d: %w", page.ResourceVersion, got.version, err)
		}
		got.version = version
		for _, profile := range page.Clusters {
			got.prices[profile.ID] = profile.Spec.ServerPrice
		}
		if page.Continue == "" {
			break
		}
		next = "&continue=" + page.Continue
	}
	got.end = c.clock.Add(1)
	c.note(func() { c.lists = append(c.lists, got) })
	return nil
}

// at returns the last write of a cluster up to a version.
func (c *churn) at(id string, version int64) (last written) {
	for _, w := range c.writes[id] {
		if w.version <= version && w.version > last.version {
			last = w.written
		}
	}
	return last
}

// faults returns what cannot be if each request took place at one moment between its beginning and
// its end.
func (c *churn) faults() []string {
	return slices.Concat(c.faultsOfWrites(), c.faultsOfReads(), c.faultsOfLists())
}

// faultsOfWrites are those of what was answered after a write, or was written over another one.
func (c *churn) faultsOfWrites() (found []string) {
	fault := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for id, writes := range c.writes {
		for _, w := range writes {
			if last := c.at(id, w.version-1); w.before != 0 && last.version != w.before {
				fault("If-Match %d of cluster %s lost the write %d", w.before, id, last.version)
			}
			stale := func(r seen) bool { return r.id == id && w.end < r.start && r.version < w.version }
			for _, r := range slices.Concat(writes, c.reads) {
				if stale(r) {
					fault("version %d of cluster %s was told after %d", r.version, id, w.version)
				}
			}
			for _, l := range c.lists {
				if w.end < l.start && l.version < w.version {
					fault("list %d began after version %d of cluster %s", l.version, w.version, id)
				}
			}
		}
	}
	return found
}

// faultsOfReads are those of what was read of one cluster.
func (c *churn) faultsOfReads() (found []string) {
	fault := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, r := range c.reads {
		if last := c.at(r.id, r.version); last.price != r.price {
			fault("cluster %s has the price %d at version %d, want %d", r.id, r.price, r.version, last.price)
		}
		if gone, removed := c.removals[r.id]; removed && gone.end < r.start {
			fault("cluster %s was told after it was removed", r.id)
		}
	}
	return found
}

// faultsOfLists are those of what lists show and lack.
func (c *churn) faultsOfLists() (found []string) {
	fault := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, l := range c.lists {
		for id := range c.writes {
			gone, removed := c.removals[id]
			price, shown := l.prices[id]
			switch last := c.at(id, l.version); {
			case shown && last.price != price:
				fault("list %d shows cluster %s with the price %d, want %d", l.version, id, price, last.price)
			case shown && removed && gone.end < l.start:
				fault("list %d shows cluster %s, which was removed", l.version, id)
			case !shown && last.version != 0 && (!removed || gone.start >= l.end):
				fault("list %d lacks cluster %s", l.version, id)
			}
		}
	}
	return found
}

var _ = Describe("Two gateways under sixteen clients that register, change, list and remove at random", func() {
	It("answer each request as of one moment", func(ctx SpecContext) {
		duration := churnDuration
		if text := os.Getenv(churnEnv); text != "" {
			var err error
			duration, err = time.ParseDuration(text)
			Expect(err).NotTo(HaveOccurred())
		}
		for i := range churnNames {
			unregisterAfterwards(fmt.Sprintf("churn-%02d", i))
		}
		c := &churn{writes: map[string][]seen{}, removals: map[string]seen{}}
		until := time.Now().Add(duration)
		var group sync.WaitGroup
		for i := range manyClients {
			random := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), uint64(i)))
			group.Go(func() {
				defer GinkgoRecover()
				for time.Now().Before(until) {
					Expect(c.step(ctx, random, gateways[random.IntN(len(gateways))])).To(Succeed())
				}
			})
		}
		group.Wait()
		AddReportEntry("requests", c.clock.Load()/2)
		Expect(c.writes).NotTo(BeEmpty())
		Expect(c.lists).NotTo(BeEmpty())
		Expect(c.faults()).To(BeEmpty())
	})
})
