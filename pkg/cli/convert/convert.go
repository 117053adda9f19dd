// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package convert holds the command that rewrites manifests of other systems for Berth.
package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/feeds/manifest"
)

const long = `Rewrite manifests of Krake, KubeEdge's node groups, Clusternet and Global Resource Scheduler for Berth.

The result goes to standard output, as YAML documents or as a JSON list. Nothing is changed in a cluster. Objects of all
other kinds, such as Deployments, and Berth's own are copied. What Berth has no use for is left out, and a warning on
standard error says so.

Names of Krake's objects can have underscores, for which names of Kubernetes objects have hyphens. References to metrics and
providers may keep theirs: Berth takes both.`

const example = `  # See what becomes of a file
  berthctl convert -f krake.yaml

  # Apply it
  berthctl convert -f krake.yaml | kubectl apply -f -`

// options are the flags of convert.
type options struct {
	file   values.File
	output *output.Flag
}

// NewCommand returns the command convert.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{output: output.NewFlag(output.YAML, output.JSON)}
	cmd := &cobra.Command{
		Use:     "convert -f FILE",
		Short:   "Rewrite manifests of other systems for Berth",
		Long:    long,
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return o.run(streams)
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	o.file.AddTo(cmd, "file with the objects")
	o.output.AddTo(cmd)
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagRequired("filename")
	return cmd
}

func (o *options) run(streams genericiooptions.IOStreams) error {
	var warnings []string
	objects, err := values.ReadFile(&o.file, streams.In, func(raw []byte) (objects []manifest.Object, err error) {
		objects, warnings, err = convertAll(raw)
		return objects, err
	})
	if err != nil {
		return err
	}
	out, err := o.render(objects)
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		if _, err := fmt.Fprintf(streams.ErrOut, "warning: %s\n", output.OneLine(warning)); err != nil {
			return err
		}
	}
	_, err = streams.Out.Write(out)
	return err
}

// convertAll rewrites all objects of a file.
func convertAll(raw []byte) (objects []manifest.Object, warnings []string, err error) {
	documents, err := manifest.ReadAll(raw)
	if err != nil {
		return nil, nil, err
	}
	if len(documents) == 0 {
		return nil, nil, errors.New("there is no object in it")
	}
	for _, document := range documents {
		object, err := manifest.Decode(document.Raw)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", document.Place, err)
		}
		c := &conversion{}
		converted, err := c.convert(object)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", document.Place, err)
		}
		objects = append(objects, converted)
		for _, warning := range c.warnings {
			warnings = append(warnings, document.Place+": "+warning)
		}
	}
	return objects, warnings, nil
}

func (o *options) render(objects []manifest.Object) ([]byte, error) {
	var out bytes.Buffer
	if o.output.String() == string(output.JSON) {
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
		return out.Bytes(), err
	}
	for i, object := range objects {
		if i > 0 {
			out.WriteString("---\n")
		}
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// version is the API version of what Berth reads.
var version = berthv1alpha1.SchemeGroupVersion.String()
