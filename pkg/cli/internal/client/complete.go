// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// completionTimeout is how long a shell waits for names.
const completionTimeout = 3 * time.Second

// Complete completes the one argument of a command with the names that the function finds for the
// namespace of the command line. It offers the shell nothing if they cannot be read within three
// seconds.
func (f *Factory) Complete(names func(ctx context.Context, clients Clients, namespace string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		found, err := f.find(ctx, names)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func (f *Factory) find(
	ctx context.Context, names func(ctx context.Context, clients Clients, namespace string) ([]string, error),
) ([]string, error) {
	namespace, err := f.Namespace()
	if err != nil {
		return nil, err
	}
	clients, err := f.Clients()
	if err != nil {
		return nil, err
	}
	return names(ctx, clients, namespace)
}

// NamesOf returns the names of objects.
func NamesOf[T any, O interface {
	*T
	metav1.Object
}](objects []T) []string {
	names := make([]string, len(objects))
	for i := range objects {
		names[i] = O(&objects[i]).GetName()
	}
	return names
}
