// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// places returns one object of each kind for which Krake's users expect list, get and delete.
func places(t *testing.T) *clitest.World {
	t.Helper()
	named := func(name, namespace string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"location": "DE"}}
	}
	samples := []berthv1alpha1.MetricSample{
		{Name: "load", Value: ptr.To(0.25)}, {Name: "price", Reason: berthv1alpha1.ReasonTimeout},
	}
	status := berthv1alpha1.CloudStatus{Metrics: samples}
	w := clitest.NewWorld(t)
	w.Berth = []runtime.Object{
		&berthv1alpha1.Cloud{ObjectMeta: named("own", clitest.Namespace), Spec: berthv1alpha1.CloudSpec{Type: "openstack"}, Status: status},
		&berthv1alpha1.Cloud{ObjectMeta: named("theirs", "other")},
		&berthv1alpha1.GlobalCloud{ObjectMeta: named("everybodys", ""), Status: status},
		&berthv1alpha1.OpenStackProject{
			ObjectMeta: named("web", clitest.Namespace), Spec: berthv1alpha1.OpenStackProjectSpec{Template: "small", UserID: "u"},
			Status: status,
		},
		&berthv1alpha1.MagnumCluster{
			ObjectMeta: named("new", clitest.Namespace), Spec: berthv1alpha1.MagnumClusterSpec{NodeCount: ptr.To[int32](3)},
			Status: berthv1alpha1.MagnumClusterStatus{
				ScheduledTo: &berthv1alpha1.CloudReference{Kind: "OpenStackProject", Name: "web"}, Template: "small",
				Conditions: []metav1.Condition{{Type: "Bound", Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonCloudChosen}},
			},
		},
		&berthv1alpha1.Cluster{
			ObjectMeta: named("hamburg", ""),
			Status: berthv1alpha1.ClusterStatus{NodeCount: 2, Metrics: samples, Conditions: []metav1.Condition{
				{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonEnoughNodesReady},
			}},
		},
	}
	return w
}

func TestListAndGet(t *testing.T) {
	const (
		cloud   = "NAME   TYPE        METRICS                   LABELS\nown    openstack   load=0.25,price=Timeout   location=DE\n"
		project = "NAME   TEMPLATE   METRICS                   LABELS        USER   URL\n" +
			"web    small      load=0.25,price=Timeout   location=DE   u      <none>\n"
		magnum = "NAME   PROJECT   TEMPLATE   BOUND   REASON        MASTERS   NODES\nnew    web       small      True    CloudChosen   <none>    3\n"
		site   = "NAME      ONLINE   NODES   METRICS                   CLOUD    LABELS\n" +
			"hamburg   True     2       load=0.25,price=Timeout   <none>   location=DE\n"
	)
	for command, want := range map[string]string{
		"cloud list":    cloud,
		"cloud get own": cloud,
		"cloud list -A": "NAMESPACE   NAME     TYPE        METRICS                   LABELS\n" +
			"default     own      openstack   load=0.25,price=Timeout   location=DE\n" +
			"other       theirs   <none>      <none>                    location=DE\n",
		"globalcloud list":        "NAME         TYPE     METRICS                   LABELS\neverybodys   <none>   load=0.25,price=Timeout   location=DE\n",
		"os project list -o wide": project, "os project get web -o wide": project,
		"os cluster list -o wide": magnum, "os cluster get new -o wide": magnum,
		"cluster list": site, "cluster get hamburg": site,
	} {
		clitest.Run(t.Context(), places(t).Options(), strings.Fields(command)...).CheckOutput(t, want)
	}
	empty := clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "os", "cluster", "list")
	if empty.Code != 0 || empty.Out != "" || empty.Err != "There are no magnum clusters.\n" {
		t.Errorf("exit status %d, printed %q and %q", empty.Code, empty.Out, empty.Err)
	}
	clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "cloud", "list", "-o", "json").
		CheckOutput(t, `{"kind":"CloudList","apiVersion":"berth.dev/v1alpha1","metadata":{},"items":[]}`+"\n")
}

func TestListForPrograms(t *testing.T) {
	var list berthv1alpha1.CloudList
	answer := clitest.Run(t.Context(), places(t).Options(), "cloud", "list", "-o", "json")
	if err := json.Unmarshal([]byte(answer.Out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].Kind != "Cloud" || list.Items[0].APIVersion != "berth.dev/v1alpha1" {
		t.Errorf("printed %s", answer.Out)
	}
}

func TestDeleteOfWhatWasCreated(t *testing.T) {
	w := places(t)
	for command, want := range map[string]string{
		"cloud delete own": "cloud own deleted\n", "globalcloud delete everybodys": "globalcloud everybodys deleted\n",
		"os project delete web": "project web deleted\n", "os cluster delete new -o json": `{"deleted":"new"}` + "\n",
	} {
		clitest.Run(t.Context(), w.Options(), strings.Fields(command)...).CheckOutput(t, want)
		clitest.Run(t.Context(), w.Options(), strings.Fields(command)...).CheckFailed(t, "not found")
	}
	left, err := w.Clients.Berth.BerthV1alpha1().Clouds("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	clitest.Run(t.Context(), w.Options(), "cluster", "delete", "hamburg").CheckFailed(t, "unknown command")
}

func TestKindsThatCannotBeRead(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "berth.dev", Resource: "clouds"}, "", nil)
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"not allowed":   {forbidden, "not allowed"},
		"not installed": {apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "", 0, true), "not installed"},
	} {
		for _, command := range []string{"cloud list", "cloud get own", "cloud delete own"} {
			t.Run(name+" "+command, func(t *testing.T) {
				w := places(t)
				options := w.Options()
				w.Clients.Berth.PrependReactor("*", "clouds", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, tc.err
				})
				clitest.Run(t.Context(), options, strings.Fields(command)...).CheckFailed(t, tc.want)
			})
		}
	}
	clitest.Run(t.Context(), places(t).Options(), "cloud", "get").CheckFailed(t, "")
}

func TestShellsAreOfferedPlaces(t *testing.T) {
	for _, command := range []string{"get", "delete"} {
		if got := clitest.Run(t.Context(), places(t).Options(), "__complete", "cloud", command, ""); got.Out != "own\n:4\n" {
			t.Errorf("%s: offered %q", command, got.Out)
		}
	}
}
