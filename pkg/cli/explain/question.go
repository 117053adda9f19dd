// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/past"
)

// question asks about one object.
type question struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
	past    past.Sources
	// group and kind are those of the object, and singular is how people call one.
	group, kind, singular string
}

func newQuestion(streams genericiooptions.IOStreams, factory *client.Factory, group, kind string) question {
	return question{
		streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML),
		group: group, kind: kind, singular: strings.ToLower(kind),
	}
}

// one refuses anything but one name. Use is what follows the command.
func (q *question) one(use string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%d %ss named, name one: %s %s", len(args), q.singular, cmd.CommandPath(), use)
		}
		return nil
	}
}

// clean returns the name that somebody means. kubectl prints objects as pod/NAME and as
// application.berth.dev/NAME, and people paste that.
func (q *question) clean(name string) (string, error) {
	resource := schema.GroupResource{Group: q.group, Resource: q.singular}
	name = strings.TrimPrefix(name, resource.String()+"/")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", fmt.Errorf("%.64q is no name of %s %s", name, output.Article(q.singular), q.singular)
	}
	return name, nil
}

// missing returns the error for an object that is not there, nil if err is another one.
func (q *question) missing(err error, namespace, name string) error {
	var status apierrors.APIStatus
	if apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == name {
		return q.notFound(namespace, name, remembered{})
	}
	return nil
}

// found is the answer to a question about one object. Object is what programs get, with the history
// in it, and text prints the answer to people.
type found struct {
	object func(remembered) any
	text   func(io.Writer) error
}

// run answers the question about an object, with what the processes remember of it if that was
// asked for.
func (q *question) run(
	ctx context.Context, name string, answer func(ctx context.Context, clients client.Clients, namespace, name string) (found, error),
) error {
	name, err := q.clean(name)
	if err != nil {
		return err
	}
	namespace, err := q.factory.Namespace()
	if err != nil {
		return err
	}
	clients, err := q.factory.Clients()
	if err != nil {
		return err
	}
	got, err := answer(ctx, clients, namespace, name)
	if err != nil {
		return err
	}
	told, err := q.tell(ctx, namespace, name)
	if err != nil {
		return err
	}
	return q.output.Print(q.streams.Out, got.object(told), func(w io.Writer) error {
		if err := got.text(w); err != nil {
			return err
		}
		return told.print(w)
	})
}
