// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package objects creates and shows objects of Berth's API, for all commands that do.
package objects

import (
	"context"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/generated/clientset/versioned/scheme"
)

// FieldManager is the name under which the API server notes what berthctl wrote.
const FieldManager = "berthctl"

// Object is any object of the API.
type Object interface {
	metav1.Object
	runtime.Object
}

// Creator is the part of a typed client that creates objects.
type Creator[T Object] interface {
	Create(ctx context.Context, object T, options metav1.CreateOptions) (T, error)
}

// Create creates an object of a kind, which is written as users do, "application". The error names
// the object.
func Create[T Object](ctx context.Context, api Creator[T], kind string, object T) (T, error) {
	created, err := api.Create(ctx, object, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		return created, fmt.Errorf("creating %s %q: it exists already", kind, object.GetName())
	}
	return created, Describe(fmt.Sprintf("creating %s %q", kind, object.GetName()), err)
}

// Describe adds to an error of the API server about one object what the user can do about it. The
// action, `creating cloud "de"`, says what was tried. A nil error stays nil.
func Describe(action string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: not allowed, ask the administrator for the right to do it: %w", action, err)
	case apierrors.IsNotFound(err) && !client.IsObjectMissing(err):
		return client.ErrNotInstalled
	}
	return client.DescribeError(action, err)
}

// Print shows what was done to an object: one line for people, the object itself for programs.
func Print(streams genericiooptions.IOStreams, format *output.Flag, kind string, object Object, done string) error {
	Identify(object)
	return format.Print(streams.Out, object, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s %s %s\n", kind, object.GetName(), done)
		return err
	})
}

// Identify fills in apiVersion and kind, which typed clients leave out.
func Identify(object runtime.Object) {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err == nil && len(kinds) > 0 {
		object.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
}
