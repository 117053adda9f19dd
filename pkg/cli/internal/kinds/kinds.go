// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kinds makes the commands list, get and delete of a kind, which are the same for all kinds
// but for their columns.
package kinds

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
)

// pageSize bounds the objects that are asked for at once.
const pageSize = 500

// API is the part of a typed client that shows and deletes objects.
type API[T objects.Object, L runtime.Object] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// Kind is a kind of objects T, with lists L.
type Kind[T objects.Object, L runtime.Object] struct {
	// Name is what users call an object, "cloud", and Title what the API calls it, "Cloud".
	Name, Title string
	// Command is what users write after berthctl to come to its commands. Empty means the name.
	Command string
	// Global objects have no namespace.
	Global bool
	// API returns the client for the objects of a namespace, or of all if that is empty.
	API func(clients client.Clients, namespace string) API[T, L]
	// Columns follow the name in a table, and Row returns what stands in them.
	Columns []output.Column
	Row     func(object T) []any
	// Details returns rows of a property and its value, which get shows instead of a row. It may be
	// nil.
	Details func(object T) [][]any
	// List, Get and Delete describe the commands, where there is more to say than their names do.
	List, Get, Delete Help
}

// Help describes a command.
type Help struct {
	Short, Long, Example string
}

// or returns the texts with those that stand for missing ones.
func (t Help) or(short, long, example string) Help {
	return Help{cmp.Or(t.Short, short), cmp.Or(t.Long, long), cmp.Or(t.Example, example)}
}

// example returns the line with which one of the commands is called.
func (k *Kind[T, L]) example(words string) string {
	return "  berthctl " + cmp.Or(k.Command, k.Name) + " " + words
}

// anyName returns a name that an example can use.
func (k *Kind[T, L]) anyName() string { return "my-" + strings.ReplaceAll(k.Name, " ", "-") }

// one returns the title with its article.
func (k *Kind[T, L]) one() string { return output.Article(k.Title) + " " + k.Title }

// session is one run of a command.
type session struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
}

// AddTo adds the commands list, get and, unless the kind is deleted in a way of its own, delete.
func (k *Kind[T, L]) AddTo(parent *cobra.Command, streams genericiooptions.IOStreams, factory *client.Factory, deletable bool) {
	s := session{streams, factory}
	parent.AddCommand(k.list(s), k.get(s))
	if deletable {
		parent.AddCommand(k.delete(s))
	}
}

// CompleteNames offers the names of the objects to the shell.
func (k *Kind[T, L]) CompleteNames(factory *client.Factory) cobra.CompletionFunc {
	return factory.Complete(func(ctx context.Context, clients client.Clients, namespace string) ([]string, error) {
		found, err := k.find(ctx, k.API(clients, namespace))
		if err != nil {
			return nil, err
		}
		var names []string
		err = k.each(found, func(object T) { names = append(names, object.GetName()) })
		return names, err
	})
}

func (k *Kind[T, L]) list(s session) *cobra.Command {
	format := output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML)
	all := false
	texts := k.List.or("List "+k.Title+"s", "List "+k.Title+"s.", k.example("list -o wide"))
	cmd := &cobra.Command{
		Use:               "list",
		Short:             texts.Short,
		Long:              texts.Long,
		Example:           texts.Example,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := k.open(s, all)
			if err != nil {
				return err
			}
			found, err := k.find(cmd.Context(), api)
			if err != nil {
				return err
			}
			if apimeta.LenList(found) == 0 && format.ForPeople() {
				fmt.Fprintf(s.streams.ErrOut, "There are no %ss.\n", k.Name)
			}
			return format.Print(s.streams.Out, found, func(w io.Writer) error { return k.table(w, format.Wide(), all, found) })
		},
	}
	if !k.Global {
		cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list those of all namespaces")
	}
	format.AddTo(cmd)
	return cmd
}

func (k *Kind[T, L]) get(s session) *cobra.Command {
	format := output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML)
	if k.Details != nil {
		format = output.NewFlag(output.Table, output.JSON, output.YAML)
	}
	texts := k.Get.or("Show "+k.one(), "Show "+k.one()+". With -o yaml all of it.", k.example("get "+k.anyName()+" -o yaml"))
	cmd := &cobra.Command{
		Use:               "get NAME",
		Short:             texts.Short,
		Long:              texts.Long,
		Example:           texts.Example,
		Args:              objects.OneName(k.Name),
		ValidArgsFunction: k.CompleteNames(s.factory),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := k.open(s, false)
			if err != nil {
				return err
			}
			object, err := api.Get(cmd.Context(), args[0], metav1.GetOptions{})
			if err != nil {
				return k.describe("getting", args[0], err)
			}
			objects.Identify(object)
			return format.Print(s.streams.Out, object, func(w io.Writer) error {
				if k.Details != nil {
					return output.Rows(w, false, []output.Column{{Name: "Field"}, {Name: "Value"}}, k.Details(object))
				}
				return output.Rows(w, format.Wide(), k.columns(false), [][]any{k.row(object, false)})
			})
		},
	}
	format.AddTo(cmd)
	return cmd
}

// deletion is the answer for programs.
type deletion struct {
	Deleted string `json:"deleted"`
}

func (k *Kind[T, L]) delete(s session) *cobra.Command {
	format := output.NewFlag(output.Text, output.JSON, output.YAML)
	texts := k.Delete.or("Delete "+k.one(), "Delete "+k.one()+".", k.example("delete "+k.anyName()))
	cmd := &cobra.Command{
		Use:               "delete NAME",
		Short:             texts.Short,
		Long:              texts.Long,
		Example:           texts.Example,
		Args:              objects.OneName(k.Name),
		ValidArgsFunction: k.CompleteNames(s.factory),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := k.open(s, false)
			if err != nil {
				return err
			}
			if err := api.Delete(cmd.Context(), args[0], metav1.DeleteOptions{}); err != nil {
				return k.describe("deleting", args[0], err)
			}
			return format.Print(s.streams.Out, deletion{args[0]}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s %s deleted\n", k.Name, args[0])
				return err
			})
		},
	}
	format.AddTo(cmd)
	return cmd
}

// open returns the client for the namespace of the command line, or for all.
func (k *Kind[T, L]) open(s session, all bool) (API[T, L], error) {
	namespace := metav1.NamespaceAll
	if !all && !k.Global {
		var err error
		if namespace, err = s.factory.Namespace(); err != nil {
			return nil, err
		}
	}
	clients, err := s.factory.Clients()
	if err != nil {
		return nil, err
	}
	return k.API(clients, namespace), nil
}

// find returns the list of objects, complete with their kinds.
func (k *Kind[T, L]) find(ctx context.Context, api API[T, L]) (L, error) {
	// An empty list is a list for programs too.
	items := []runtime.Object{}
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := api.List(ctx, options)
		if err != nil {
			return page, client.DescribeBerthError("listing "+k.Name+"s", err)
		}
		if err := apimeta.EachListItem(page, func(object runtime.Object) error {
			objects.Identify(object)
			items = append(items, object)
			return nil
		}); err != nil {
			return page, err
		}
		list, err := apimeta.ListAccessor(page)
		if err != nil {
			return page, err
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			objects.Identify(page)
			return page, apimeta.SetList(page, items)
		}
	}
}

func (k *Kind[T, L]) describe(doing, name string, err error) error {
	if client.IsObjectMissing(err) {
		return fmt.Errorf("%s %q not found", k.Name, name)
	}
	return objects.Describe(fmt.Sprintf("%s %s %q", doing, k.Name, name), err)
}

func (k *Kind[T, L]) columns(namespaced bool) []output.Column {
	columns := append([]output.Column{{Name: "Name"}}, k.Columns...)
	if namespaced {
		columns = append([]output.Column{{Name: "Namespace"}}, columns...)
	}
	return columns
}

func (k *Kind[T, L]) row(object T, namespaced bool) []any {
	row := append([]any{object.GetName()}, k.Row(object)...)
	if namespaced {
		row = append([]any{object.GetNamespace()}, row...)
	}
	return row
}

func (k *Kind[T, L]) table(w io.Writer, wide, namespaced bool, found L) error {
	var rows [][]any
	err := k.each(found, func(object T) { rows = append(rows, k.row(object, namespaced)) })
	if err != nil {
		return err
	}
	return output.Rows(w, wide, k.columns(namespaced), rows)
}

func (k *Kind[T, L]) each(found L, do func(object T)) error {
	return apimeta.EachListItem(found, func(object runtime.Object) error {
		typed, ok := object.(T)
		if !ok {
			return fmt.Errorf("%T is in a list of %ss", object, k.Name)
		}
		do(typed)
		return nil
	})
}
