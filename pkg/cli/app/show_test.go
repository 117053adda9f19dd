// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

func TestList(t *testing.T) {
	clitest.Run(t.Context(), running(t).Options(), "app", "list").CheckOutput(t, `NAME   CLUSTER   SCORE    SCHEDULED   READY   REASON
shop   hamburg   0.6812   90m         False   PodsNotReady
`)
	clitest.Run(t.Context(), running(t).Options(), "app", "list", "-A", "-o", "wide").CheckOutput(t,
		`NAMESPACE   NAME   CLUSTER   SCORE    SCHEDULED   READY   REASON         MIGRATION    OBJECTS
default     shop   hamburg   0.6812   90m         False   PodsNotReady   StartFirst   1
`)
	empty := clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "app", "list")
	if empty.Code != 0 || empty.Out != "" || empty.Err != "There are no applications.\n" {
		t.Errorf("exit status %d, printed %q and %q", empty.Code, empty.Out, empty.Err)
	}
	clitest.Run(t.Context(), running(t).Options(), "app", "list", "-n", "other", "-o", "json").
		CheckOutput(t, `{"kind":"ApplicationList","apiVersion":"berth.dev/v1alpha1","metadata":{},"items":[]}`+"\n")
}

func TestListOfWhatWasNotDecidedYet(t *testing.T) {
	w := clitest.NewWorld(t)
	w.Berth = append(w.Berth, &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: clitest.Namespace, Name: "new"}})
	clitest.Run(t.Context(), w.Options(), "apps", "list").CheckOutput(t, `NAME   CLUSTER   SCORE    SCHEDULED   READY     REASON
new    <none>    <none>   <none>      Unknown   <none>
`)
}

func TestGet(t *testing.T) {
	got := clitest.Run(t.Context(), running(t).Options(), "app", "get", "shop")
	if got.Code != 0 || got.Err != "" {
		t.Fatalf("exit status %d, printed %q", got.Code, got.Err)
	}
	for _, want := range [][]string{
		{"FIELD", "VALUE"},
		{"labels", "tier=gold"},
		{"cluster", "hamburg"},
		{"score", "0.6812"},
		{"migration", "StartFirst"},
		{"reschedule", "after", "<none>"},
		{"label", "constraints", "location", "is", "DE"},
		{"metric", "constraints", "load", "<", "5"},
		{"resource", "constraints", "<none>"},
		{"objects", "service/shop"},
		{"scheduled", "True", "ClusterChosen"},
		{"hamburg", "is", "best"},
		{"ready", "False", "PodsNotReady"},
	} {
		found := false
		for line := range strings.SplitSeq(got.Out, "\n") {
			found = found || strings.Join(strings.Fields(line), " ") == strings.Join(want, " ")
		}
		if !found {
			t.Errorf("no line %q in\n%s", want, got.Out)
		}
	}
	if !strings.Contains(got.Out, ", 90m ago\n") {
		t.Errorf("printed\n%s", got.Out)
	}
}

func TestGetForPrograms(t *testing.T) {
	var app berthv1alpha1.Application
	answer := clitest.Run(t.Context(), running(t).Options(), "app", "get", "shop", "-o", "json")
	if err := json.Unmarshal([]byte(answer.Out), &app); err != nil {
		t.Fatal(err)
	}
	if app.Kind != "Application" || app.APIVersion != "berth.dev/v1alpha1" || app.Status.ScheduledTo != "hamburg" {
		t.Errorf("got %s", answer.Out)
	}
	yaml := clitest.Run(t.Context(), running(t).Options(), "application", "get", "shop", "-o", "yaml")
	if !strings.HasPrefix(yaml.Out, "apiVersion: berth.dev/v1alpha1\nkind: Application\n") {
		t.Errorf("printed\n%s", yaml.Out)
	}
}

func TestDelete(t *testing.T) {
	w := running(t)
	clitest.Run(t.Context(), w.Options(), "app", "delete", "shop").CheckOutput(t, "application shop deleted\n")
	left, err := w.Clients.Berth.BerthV1alpha1().Applications(clitest.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("left %v, %v", left.Items, err)
	}
	clitest.Run(t.Context(), running(t).Options(), "app", "delete", "shop", "-o", "json").CheckOutput(t, `{"deleted":"shop"}`+"\n")
}

func TestShellsAreOfferedApplications(t *testing.T) {
	for _, command := range []string{"get", "update", "delete"} {
		if got := clitest.Run(t.Context(), running(t).Options(), "__complete", "app", command, ""); got.Out != "shop\n:4\n" {
			t.Errorf("%s: offered %q", command, got.Out)
		}
	}
}

// TestErrorsOfTheAPIServer checks that each tells what to do about it.
func TestErrorsOfTheAPIServer(t *testing.T) {
	resource := schema.GroupResource{Group: "berth.dev", Resource: "applications"}
	path := file(t, service)
	create := []string{"app", "create", "shop", "-f", path}
	tests := map[string]struct {
		args []string
		err  error
		want string
	}{
		"it is there already": {create, apierrors.NewAlreadyExists(resource, "shop"), `creating application "shop": it exists already`},
		"it may not":          {create, apierrors.NewForbidden(resource, "shop", errors.New("no")), "ask the administrator for the right to do it"},
		"nobody installed it": {
			create, apierrors.NewGenericServerResponse(http.StatusNotFound, "POST", resource, "", "", 0, true),
			"the Berth API is not installed",
		},
		"no such namespace": {
			create, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "default"), `namespaces "default" not found`,
		},
		"nobody answers": {
			create, &url.Error{Op: "Post", URL: "https://127.0.0.1:1", Err: errors.New("connection refused")},
			"cannot reach the API server",
		},
		"a change of nothing":   {[]string{"app", "update", "shop", "-l", "a=b"}, nil, `application "shop" not found`},
		"a deletion of nothing": {[]string{"app", "delete", "shop"}, nil, `application "shop" not found`},
		"a look at nothing":     {[]string{"app", "get", "shop"}, nil, `application "shop" not found`},
		"a list without rights": {
			[]string{"app", "list"}, apierrors.NewForbidden(resource, "", errors.New("no")), "listing applications: not allowed",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := clitest.NewWorld(t)
			options := w.Options()
			w.Clients.Berth.PrependReactor("*", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
				return tc.err != nil, nil, tc.err
			})
			clitest.Run(t.Context(), options, tc.args...).CheckFailed(t, tc.want)
		})
	}
}
