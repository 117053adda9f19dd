// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/feeds"
	"berth.dev/berth/pkg/feeds/manifest"
)

const feedLong = `Tell how many replicas each object of a file wants, what one replica needs, and where the number is written.

The file holds YAML documents or JSON, and lists of either. Berth reads Deployments, ReplicaSets, StatefulSets, Jobs,
CronJobs, DaemonSets, Pods and ReplicationControllers. FeedParsers teach it further kinds, or another way to read these.
A CustomResourceDefinition in the file that has a scale subresource teaches it the objects of its kind, if they have one
pod template. An object of a kind that nothing reads is unknown: it is copied whole.

Objects without a number of replicas, DaemonSets and Pods among them, are copied whole too. If one object cannot be
understood the command fails and tells which.`

const feedExample = `  # What the objects of a bundle need
  berthctl preview feed -f bundle.yaml

  # The same for a custom resource, with the FeedParsers in a folder, for a program
  helm template my-chart | berthctl preview feed -f - --parsers parsers/ -o json`

// feedOptions are the flags of preview feed.
type feedOptions struct {
	file    values.File
	parsers string
	output  *output.Flag
}

// feedAnswer is the answer. The names of its fields are a promise to programs, and those of
// FeedInventory.
type feedAnswer struct {
	Feeds []feedEntry `json:"feeds"`
}

// feedEntry always has the fields that tell whether an object is divided.
type feedEntry struct {
	APIVersion          string                            `json:"apiVersion"`
	Kind                string                            `json:"kind"`
	Namespace           string                            `json:"namespace,omitempty"`
	Name                string                            `json:"name"`
	DesiredReplicas     *int32                            `json:"desiredReplicas"`
	ReplicaRequirements berthv1alpha1.ReplicaRequirements `json:"replicaRequirements"`
	ReplicaJSONPath     string                            `json:"replicaJsonPath"`
	Components          []berthv1alpha1.FeedComponent     `json:"components,omitempty"`

	parser string
}

var feedColumns = []output.Column{
	{Name: "Kind"}, {Name: "Name"}, {Name: "Replicas"}, {Name: "Requests"}, {Name: "Replicas-At"}, {Name: "Parser"},
	{Name: "Namespace", Wide: true}, {Name: "Limits", Wide: true}, {Name: "Node-Selector", Wide: true},
}

func newFeed(streams genericiooptions.IOStreams) *cobra.Command {
	o := &feedOptions{output: output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:     "feed -f FILE [--parsers DIR]",
		Short:   "Tell what the objects of a file need",
		Long:    feedLong,
		Example: feedExample,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return o.run(streams)
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	o.file.AddTo(cmd, "file with the objects")
	cmd.Flags().StringVar(&o.parsers, "parsers", "", "folder with FeedParsers, in files named *.yaml, *.yml or *.json")
	o.output.AddTo(cmd)
	// They fail only for flags that do not exist.
	_ = cmd.MarkFlagRequired("filename")
	_ = cmd.MarkFlagDirname("parsers")
	return cmd
}

func (o *feedOptions) run(streams genericiooptions.IOStreams) error {
	registry, err := o.registry()
	if err != nil {
		return fmt.Errorf("--parsers: %w", err)
	}
	answer, err := values.ReadFile(&o.file, streams.In, func(raw []byte) (*feedAnswer, error) { return readFeeds(registry, raw) })
	if err != nil {
		return err
	}
	return o.output.Print(streams.Out, answer, func(w io.Writer) error { return answer.print(w, o.output.Wide()) })
}

func (o *feedOptions) registry() (*feeds.Registry, error) {
	var rules []berthv1alpha1.FeedParser
	if o.parsers != "" {
		var err error
		if rules, err = feeds.LoadFeedParsers(os.DirFS(o.parsers)); err != nil {
			return nil, fmt.Errorf("%s: %w", o.parsers, err)
		}
	}
	return feeds.NewRegistry(rules, feeds.BuiltIn())
}

func readFeeds(registry *feeds.Registry, raw []byte) (*feedAnswer, error) {
	documents, err := manifest.ReadAll(raw)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, errors.New("there is no object in it")
	}
	if registry, err = withDefinitions(registry, documents); err != nil {
		return nil, err
	}
	answer := &feedAnswer{Feeds: make([]feedEntry, 0, len(documents))}
	for _, document := range documents {
		feed, err := registry.Read(document.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", document.Place, err)
		}
		answer.Feeds = append(answer.Feeds, feedEntry{
			APIVersion: feed.APIVersion, Kind: feed.Kind, Namespace: feed.Namespace, Name: feed.Name,
			DesiredReplicas: feed.DesiredReplicas, ReplicaRequirements: feed.ReplicaRequirements,
			ReplicaJSONPath: feed.ReplicaJSONPath,
			Components:      feed.Components, parser: feed.Parser,
		})
	}
	return answer, nil
}

// withDefinitions returns a registry that also reads what is defined among the objects.
func withDefinitions(registry *feeds.Registry, documents []manifest.Document) (*feeds.Registry, error) {
	parsers := map[schema.GroupKind]feeds.PluginFactory{}
	for _, document := range documents {
		kind, parser, err := feeds.ScaleOf(document.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", document.Place, err)
		}
		if parser != nil {
			parsers[kind] = parser
		}
	}
	return registry.WithFallback(parsers)
}

func (a *feedAnswer) print(w io.Writer, wide bool) error {
	rows := make([][]any, 0, len(a.Feeds))
	for i := range a.Feeds {
		f := &a.Feeds[i]
		replicas := orNone("")
		if f.DesiredReplicas != nil {
			replicas = strconv.Itoa(int(*f.DesiredReplicas))
		}
		needs := &f.ReplicaRequirements
		rows = append(rows, []any{
			f.Kind, f.Name, replicas, amounts(needs.Resources.Requests), orNone(f.ReplicaJSONPath), f.parser,
			orNone(f.Namespace), amounts(needs.Resources.Limits), pairs(needs.NodeSelector),
		})
	}
	return output.Rows(w, wide, feedColumns, rows)
}

func amounts(list corev1.ResourceList) string {
	texts := make(map[string]string, len(list))
	for name, amount := range list {
		texts[string(name)] = amount.String()
	}
	return pairs(texts)
}

func pairs(texts map[string]string) string {
	list := make([]string, 0, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		list = append(list, name+"="+texts[name])
	}
	return orNone(strings.Join(list, ","))
}
