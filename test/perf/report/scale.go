// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"
)

// Scale is what schedulers and controllers cost in a large cluster that is at work.
type Scale struct {
	Environment Environment `json:"environment"`
	// Nodes, Pods, Clusters and Policies are the size of the cluster.
	Nodes    int `json:"nodes"`
	Pods     int `json:"pods"`
	Clusters int `json:"clusters"`
	Policies int `json:"policies"`
	// Drains are schedulers that start beside what runs already, and place a backlog.
	Drains      []Drain          `json:"drains,omitempty"`
	Controllers ScaleControllers `json:"controllers"`
	// Slopes are of smaller clusters: a first one, and others that have more of one thing each.
	Slopes []Slope `json:"slopes,omitempty"`
	// Decisions are those in generated caches that are larger than a control plane could fill.
	Decisions []Comparison `json:"decisions,omitempty"`
	// Throughputs are those of scheduler_perf for which there is no goal, one run each.
	Throughputs []Throughput `json:"throughputs,omitempty"`
	// Sharing is how much schedulers that share a cluster hinder each other.
	Sharing []Sharing `json:"sharing,omitempty"`
	// Disturbed is how backlogs are placed while something goes on beside, the first while nothing
	// does.
	Disturbed []Disturbed `json:"disturbed,omitempty"`
}

// Start is what the start of a process costs.
type Start struct {
	Milliseconds    float64 `json:"milliseconds"`
	CPUMilliseconds float64 `json:"cpuMilliseconds"`
	MemoryBytes     float64 `json:"memoryBytes"`
	// Writes are those of the controllers until they had nothing to do any more.
	Writes int `json:"writes"`
}

// ScaleControllers is what berth-controller-manager costs in a large cluster.
type ScaleControllers struct {
	// First is a start before which no policy and no Cluster had a status, Again one after which there
	// was nothing to write.
	First Start `json:"first"`
	Again Start `json:"again"`
	// Changes are those of single objects, one after the other.
	Changes []Change `json:"changes,omitempty"`
	// IdleSeconds is how long nothing changed, and what the process did in that time.
	IdleSeconds         float64 `json:"idleSeconds"`
	IdleWrites          int     `json:"idleWrites"`
	IdleCPUMilliseconds float64 `json:"idleCPUMilliseconds"`
}

// Change is what one change of an object costs the controllers.
type Change struct {
	What            string  `json:"what"`
	Times           int     `json:"times"`
	CPUMilliseconds float64 `json:"cpuMilliseconds"`
	Writes          float64 `json:"writes"`
}

// Slope is what starts cost in a cluster that has More of What than the first one.
type Slope struct {
	What     string `json:"what"`
	More     int    `json:"more"`
	Nodes    int    `json:"nodes"`
	Pods     int    `json:"pods"`
	Clusters int    `json:"clusters"`
	Policies int    `json:"policies"`
	// Scheduler is its start up to the first bind, Controllers theirs until they are quiet, and
	// PodCPUMilliseconds the work of the scheduler for a pod of a policy after that.
	Scheduler          Start   `json:"scheduler"`
	Controllers        Start   `json:"controllers"`
	PodCPUMilliseconds float64 `json:"podCPUMilliseconds"`
}

// Sharing is what a pod costs while a number of schedulers share the clusters.
type Sharing struct {
	Schedulers int `json:"schedulers"`
	// Nodes and Pods are those of each scheduler.
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// CPUMilliseconds is the work of all processors for a pod while the schedulers place theirs one
	// after the other, by round, and TogetherCPUMilliseconds while all are at work; Requests and Bytes
	// are what all schedulers have asked the API server for it, and were told, watches included.
	CPUMilliseconds         []float64 `json:"cpuMilliseconds"`
	TogetherCPUMilliseconds []float64 `json:"togetherCPUMilliseconds"`
	Requests                []float64 `json:"requests"`
	Bytes                   []float64 `json:"bytes"`
	// Contended is how many writes of objects were refused because another one came first.
	Contended int `json:"contended"`
}

func (s *Scale) tables() []table {
	if s == nil {
		return nil
	}
	var tables []table
	if len(s.Drains) > 0 {
		tables = append(tables, s.drainTable())
	}
	if s.Controllers.First.CPUMilliseconds > 0 {
		tables = append(tables, s.controllerTable())
	}
	if len(s.Slopes) > 1 {
		tables = append(tables, s.slopeTable())
	}
	if len(s.Sharing) > 0 {
		tables = append(tables, s.sharingTable())
	}
	if len(s.Disturbed) > 0 {
		tables = append(tables, disturbedTable(s.Disturbed))
	}
	for i := range s.Decisions {
		tables = append(tables, s.Decisions[i].table())
	}
	if len(s.Throughputs) > 0 {
		tables = append(tables, throughputTable("scheduler_perf-others: other workloads, one run of each", s.Throughputs))
	}
	return tables
}

func (s *Scale) drainTable() table {
	t := table{
		title: fmt.Sprintf("scale-schedulers: a start and a backlog beside %d pods on %d nodes, with %d Clusters and %d policies",
			s.Pods, s.Nodes, s.Clusters, s.Policies),
		headers: []string{
			"scheduler", "first bind", "range", "CPU until then", "after", "CPU until then", "CPU a pod", "pods/s", "CPU a pod", "pods a second",
			"memory", "memory", "violations", "rounds",
		},
	}
	base := &s.Drains[0]
	for i := range s.Drains {
		d := &s.Drains[i]
		first, work := ratios(d.FirstMilliseconds, base.FirstMilliseconds), ratios(d.FirstCPUMilliseconds, base.FirstCPUMilliseconds)
		violations := "does not share out"
		if d.Limited {
			violations = fmt.Sprintf("%d of %d", d.Violations, d.Pods*len(d.PodsPerSecond))
		}
		t.rows = append(t.rows, []string{
			d.Title, number(first.Median) + " x", number(first.Least) + " to " + number(first.Most), number(work.Median) + " x",
			fmt.Sprintf("%.0f ms", SpreadOf(d.FirstMilliseconds).Median), fmt.Sprintf("%.0f ms", SpreadOf(d.FirstCPUMilliseconds).Median),
			number(ratios(d.CPUMilliseconds, base.CPUMilliseconds).Median) + " x",
			number(ratios(d.PodsPerSecond, base.PodsPerSecond).Median) + " x",
			fmt.Sprintf("%.2f ms", SpreadOf(d.CPUMilliseconds).Median), fmt.Sprintf("%.0f", SpreadOf(d.PodsPerSecond).Median),
			number(ratios(d.MemoryBytes, base.MemoryBytes).Median) + " x", mebibytes(d.MemoryBytes), violations, strconv.Itoa(len(d.PodsPerSecond)),
		})
	}
	return t
}

func (s *Scale) controllerTable() table {
	c := &s.Controllers
	t := table{
		title:   fmt.Sprintf("scale-controllers: berth-controller-manager in the same cluster, %d policies, %d pods", s.Policies, s.Pods),
		headers: []string{"what", "CPU", "writes", "time", "memory"},
	}
	for _, start := range []struct {
		what string
		*Start
	}{{"a first start, until it has nothing to do", &c.First}, {"another start", &c.Again}} {
		t.rows = append(t.rows, []string{
			start.what, fmt.Sprintf("%.0f ms", start.CPUMilliseconds), strconv.Itoa(start.Writes),
			fmt.Sprintf("%.0f ms", start.Milliseconds), mebibytes([]float64{start.MemoryBytes}),
		})
	}
	for i := range c.Changes {
		one := &c.Changes[i]
		t.rows = append(t.rows, []string{
			fmt.Sprintf("a change of %s, the mean of %d", one.What, one.Times), fmt.Sprintf("%.2f ms", one.CPUMilliseconds),
			fmt.Sprintf("%.2f", one.Writes), "", "",
		})
	}
	t.rows = append(t.rows, []string{
		fmt.Sprintf("%.0f s with nothing to do", c.IdleSeconds), fmt.Sprintf("%.0f ms", c.IdleCPUMilliseconds), strconv.Itoa(c.IdleWrites), "", "",
	})
	return t
}

// slopeTable tells what one more of each costs, after the cluster that is compared with.
func (s *Scale) slopeTable() table {
	base := &s.Slopes[0]
	t := table{
		title: fmt.Sprintf("scale-slopes: what one more costs, in a cluster of %d nodes, %d pods, %d Clusters and %d policies",
			base.Nodes, base.Pods, base.Clusters, base.Policies),
		headers: []string{
			"one more", "CPU of the scheduler up to its first bind", "its memory", "its CPU for a pod after that",
			"CPU of the controllers until they are in step", "their memory",
		},
	}
	for i := range s.Slopes {
		x := &s.Slopes[i]
		if x.What == "" {
			t.rows = append(t.rows, []string{
				"(the cluster itself)", fmt.Sprintf("%.0f ms", x.Scheduler.CPUMilliseconds), mebibytes([]float64{x.Scheduler.MemoryBytes}),
				fmt.Sprintf("%.2f ms", x.PodCPUMilliseconds), fmt.Sprintf("%.0f ms", x.Controllers.CPUMilliseconds),
				mebibytes([]float64{x.Controllers.MemoryBytes}),
			})
			continue
		}
		each := func(now, before float64) float64 { return (now - before) / float64(max(1, x.More)) }
		t.rows = append(t.rows, []string{
			x.What, fmt.Sprintf("%.3f ms", each(x.Scheduler.CPUMilliseconds, base.Scheduler.CPUMilliseconds)),
			fmt.Sprintf("%.1f KiB", each(x.Scheduler.MemoryBytes, base.Scheduler.MemoryBytes)/1024),
			fmt.Sprintf("%+.2f ms for all", x.PodCPUMilliseconds-base.PodCPUMilliseconds),
			fmt.Sprintf("%.3f ms", each(x.Controllers.CPUMilliseconds, base.Controllers.CPUMilliseconds)),
			fmt.Sprintf("%.1f KiB", each(x.Controllers.MemoryBytes, base.Controllers.MemoryBytes)/1024),
		})
	}
	return t
}

func (s *Scale) sharingTable() table {
	t := table{
		title: fmt.Sprintf("scale-sharing: named schedulers, each over %d nodes of its own, beside an API server in memory", s.Sharing[0].Nodes),
		headers: []string{
			"schedulers", "CPU a pod", "range", "CPU a pod", "all at once", "all at once", "requests a pod", "bytes a pod", "writes refused",
			"pods of each", "rounds",
		},
	}
	base := &s.Sharing[0]
	for i := range s.Sharing {
		x := &s.Sharing[i]
		ratio := ratios(x.CPUMilliseconds, base.CPUMilliseconds)
		t.rows = append(t.rows, []string{
			strconv.Itoa(x.Schedulers), number(ratio.Median) + " x", number(ratio.Least) + " to " + number(ratio.Most),
			fmt.Sprintf("%.2f ms", SpreadOf(x.CPUMilliseconds).Median),
			number(ratios(x.TogetherCPUMilliseconds, base.TogetherCPUMilliseconds).Median) + " x",
			fmt.Sprintf("%.2f ms", SpreadOf(x.TogetherCPUMilliseconds).Median), fmt.Sprintf("%.2f", SpreadOf(x.Requests).Median),
			fmt.Sprintf("%.0f", SpreadOf(x.Bytes).Median), strconv.Itoa(x.Contended), strconv.Itoa(x.Pods), strconv.Itoa(len(x.CPUMilliseconds)),
		})
	}
	return t
}
