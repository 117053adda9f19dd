// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/registration"
)

const (
	firstID   = "3dda2801-d675-4688-a63f-dcda8d327f51"
	missingID = "00000000-0000-0000-0000-000000000000"
)

// registered is a world with two registered clusters.
func registered(t *testing.T) *clitest.World {
	t.Helper()
	w := clitest.NewWorld(t)
	w.Berth = append(w.Berth,
		&berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "cluster1", UID: firstID},
			Spec: berthv1alpha1.ClusterSpec{ClusterProfile: berthv1alpha1.ClusterProfile{
				GeoLocation: &berthv1alpha1.GeoLocation{City: "Bellevue", Country: "US"},
				Region:      &berthv1alpha1.Region{Region: "us-west", AvailabilityZone: "us-west-1"},
				CPUCapacity: 8,
			}},
			Status: berthv1alpha1.ClusterStatus{
				HomeScheduler: "s1", NodeCount: 3, ContainedNodes: []string{"n1"},
				Conditions: []metav1.Condition{{Type: berthv1alpha1.ClusterReady, Status: metav1.ConditionTrue}},
			},
		},
		&berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "cluster2", UID: "3dda2801-d675-4688-a63f-dcda8d327f52"},
			Spec:       berthv1alpha1.ClusterSpec{HomeScheduler: "s2"},
		},
	)
	return w
}

// file writes a file for --filename.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cluster1.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func example(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "registration", "cluster1.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTheCommandsOfGlobalResourceScheduler runs the published command lines.
func TestTheCommandsOfGlobalResourceScheduler(t *testing.T) {
	path := file(t, strings.ReplaceAll(example(t), "cluster1", "cluster9"))
	tests := map[string]struct {
		args     string
		wantCode int
		wantOut  string
	}{
		"register cluster":                  {"register cluster -filename " + path, 0, "cluster cluster9 registered"},
		"register, as in its example":       {"register -filename " + path, 0, "cluster cluster9 registered"},
		"register with two dashes":          {"register cluster --filename " + path, 0, "cluster cluster9 registered"},
		"register as kubectl says it":       {"register -f " + path, 0, "cluster cluster9 registered"},
		"register with an equals sign":      {"register cluster -filename=" + path, 0, "cluster cluster9 registered"},
		"register without a file":           {"register cluster", 2, ""},
		"register something else":           {"register node -filename " + path, 2, ""},
		"unregister by name":                {"unregister cluster -name cluster1", 0, "deleted: cluster1\n"},
		"unregister, as in its example":     {"unregister -name cluster1", 0, "deleted: cluster1\n"},
		"unregister by id":                  {"unregister cluster -id " + firstID, 0, "deleted: " + firstID + "\n"},
		"unregister by id, as in its text":  {"unregister -id " + firstID, 0, "deleted: " + firstID + "\n"},
		"unregister as kubectl says it":     {"unregister cluster cluster1", 0, "deleted: cluster1\n"},
		"unregister nothing":                {"unregister cluster", 2, ""},
		"unregister an id that is none":     {"unregister cluster -id cluster1", 2, ""},
		"unregister what is not there":      {"unregister cluster -name none", 1, ""},
		"unregister an id that is not here": {"unregister cluster -id " + missingID, 1, ""},
		"list":                              {"list clusters", 0, "cluster1"},
		"list as kubectl says it":           {"get clusters", 0, "cluster1"},
		"get by name":                       {"get cluster -name cluster1", 0, "cluster1"},
		"get by id":                         {"get cluster -id " + firstID, 0, "cluster1"},
		"get by id in capitals":             {"get cluster -id " + strings.ToUpper(firstID), 0, "cluster1"},
		"get by id with an equals sign":     {"get cluster -id=" + firstID, 0, "cluster1"},
		"get as kubectl says it":            {"get cluster cluster1", 0, "cluster1"},
		"get nothing":                       {"get cluster", 2, ""},
		"get an id that is none":            {"get cluster -id not-a-uuid", 2, ""},
		"get a name that is none":           {"get cluster -name Cluster_1", 2, ""},
		"get by two names":                  {"get cluster cluster1 -name cluster1", 2, ""},
		"get by name and by id":             {"get cluster -name cluster1 -id " + firstID, 2, ""},
		"get what is not there":             {"get cluster -name none", 1, ""},
		"flags before the command":          {"--request-timeout 5s get cluster -name cluster1", 0, "cluster1"},
		"a namespace elsewhere":             {"get placement -name", 0, ""},
		"dashes behind the end of flags":    {"get cluster -- -name", 2, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := clitest.Run(t.Context(), registered(t).Options(), strings.Fields(tc.args)...)
			if got.Code != tc.wantCode || !strings.Contains(got.Out, tc.wantOut) {
				t.Errorf("exit status %d, printed %q and %q", got.Code, got.Out, got.Err)
			}
			if tc.wantCode != 0 && (got.Out != "" || !strings.HasPrefix(got.Err, "error: ") || strings.Count(got.Err, "\n") != 1) {
				t.Errorf("printed %q and %q", got.Out, got.Err)
			}
		})
	}
}

func TestListClusters(t *testing.T) {
	const table = `NAME       ID                                     READY     NODES   CITY       REGION    ZONE        SCHEDULER
cluster1   3dda2801-d675-4688-a63f-dcda8d327f51   True      3       Bellevue   us-west   us-west-1   s1
cluster2   3dda2801-d675-4688-a63f-dcda8d327f52   Unknown   0       <none>     <none>    <none>      <none>
`
	clitest.Run(t.Context(), registered(t).Options(), "list", "clusters").CheckOutput(t, table)
	wide := clitest.Run(t.Context(), registered(t).Options(), "list", "clusters", "-o", "wide")
	if !strings.Contains(wide.Out, "COUNTRY   OPERATOR   ADDRESS   CPUS   MEMORY-GIB   PRICE") {
		t.Errorf("printed\n%s", wide.Out)
	}
	var list registration.List
	if err := json.Unmarshal([]byte(clitest.Run(t.Context(), registered(t).Options(), "get", "clusters", "-o", "json").Out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Clusters) != 2 || list.Clusters[0].ID != firstID || list.Clusters[0].Spec.HomeScheduler != "s1" {
		t.Errorf("got %+v", list)
	}
	empty := clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "list", "clusters")
	if empty.Code != 0 || empty.Out != "" || empty.Err != "No clusters are registered.\n" {
		t.Errorf("exit status %d, printed %q and %q", empty.Code, empty.Out, empty.Err)
	}
	clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "list", "clusters", "-o", "json").CheckOutput(t, `{"clusters":[]}`+"\n")
}

func TestGetClusterForPrograms(t *testing.T) {
	got := clitest.Run(t.Context(), registered(t).Options(), "get", "cluster", "cluster1", "-o", "yaml")
	for _, want := range []string{"cluster_profile:\n", "  cluster_id: " + firstID + "\n", "    CPUCapacity: 8\n", "    HomeScheduler: s1\n"} {
		if !strings.Contains(got.Out, want) {
			t.Errorf("printed\n%s\nwant %q", got.Out, want)
		}
	}
}

func TestGetBindings(t *testing.T) {
	clitest.Run(t.Context(), registered(t).Options(), "get", "bindings").CheckOutput(t, `CLUSTER    SCHEDULER   PINNED-TO
cluster1   s1          <none>
cluster2   <none>      s2
`)
	clitest.Run(t.Context(), registered(t).Options(), "get", "bindings", "-o", "json").
		CheckOutput(t, `{"bindings":{"cluster1":"s1","cluster2":""},"load":{"s1":1}}`+"\n")
}

func TestRegisterFiles(t *testing.T) {
	const profileYAML = "cluster_profile:\n  cluster_name: c\n  cluster_spec:\n    Region: {region: r}\n    ipAdrress: 10.0.0.3\n"
	const objects = `apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata: {name: a}
spec: {homeScheduler: s1}
---
apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata: {name: b}
spec: {ipAddress: 10.0.0.4}
`
	const misspelled = `apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata: {name: a}
spec: {ipAdrress: 10.0.0.4, matchLables: {site: a}}
`
	tests := map[string]struct {
		content string
		want    map[string]berthv1alpha1.ClusterSpec
		wantErr string
	}{
		"a profile in JSON": {
			content: `{"cluster_profile":{"cluster_name":"c","cluster_spec":{"region":{"region":"r"},"homescheduler":"x"}}}`,
			want:    map[string]berthv1alpha1.ClusterSpec{"c": {ClusterProfile: berthv1alpha1.ClusterProfile{Region: &berthv1alpha1.Region{Region: "r"}}}},
			wantErr: "warning: cluster c: HomeScheduler is ignored: Berth chooses the scheduler of a cluster\n",
		},
		"a profile in YAML": {
			content: profileYAML,
			want: map[string]berthv1alpha1.ClusterSpec{"c": {ClusterProfile: berthv1alpha1.ClusterProfile{
				Region: &berthv1alpha1.Region{Region: "r"}, IPAddress: "10.0.0.3",
			}}},
		},
		"an object spelled as the published examples are": {
			content: misspelled,
			want: map[string]berthv1alpha1.ClusterSpec{"a": {
				MatchLabels: map[string]string{"site": "a"}, ClusterProfile: berthv1alpha1.ClusterProfile{IPAddress: "10.0.0.4"},
			}},
		},
		"two objects": {
			content: objects,
			want: map[string]berthv1alpha1.ClusterSpec{
				"a": {HomeScheduler: "s1"},
				"b": {ClusterProfile: berthv1alpha1.ClusterProfile{IPAddress: "10.0.0.4"}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := clitest.NewWorld(t)
			result := clitest.Run(t.Context(), w.Options(), "register", "cluster", "-filename", file(t, tc.content))
			if result.Code != 0 || result.Err != tc.wantErr {
				t.Fatalf("exit status %d, printed %q and %q", result.Code, result.Out, result.Err)
			}
			list, err := w.Clients.Berth.BerthV1alpha1().Clusters().List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]berthv1alpha1.ClusterSpec{}
			for i := range list.Items {
				got[list.Items[i].Name] = list.Items[i].Spec
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("clusters mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRegisterForPrograms(t *testing.T) {
	one := clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "register", "-o", "json", "-filename", file(t, example(t)))
	if !strings.HasPrefix(one.Out, `{"cluster_profile":{"cluster_name":"cluster1","cluster_spec":{"ipAddress":"10.0.0.3",`) {
		t.Errorf("printed %q", one.Out)
	}
}

func TestRegisterRefuses(t *testing.T) {
	curly, err := os.ReadFile(filepath.Join("..", "registration", "testdata", "curly.txt"))
	if err != nil {
		t.Fatal(err)
	}
	cluster := func(rest string) string { return "apiVersion: berth.dev/v1alpha1\nkind: Cluster\n" + rest }
	tests := map[string]struct{ content, want string }{
		"the published text with its quotes": {string(curly), "line 4, column 13: this is no JSON: “ is a typographic quote"},
		"an unknown key":                     {`{"cluster_profile":{"color":1}}`, "cluster_profile.color: unknown field"},
		"an unknown key in YAML":             {"cluster_profile:\n  color: 1\n", "cluster_profile.color: unknown field"},
		"an unknown field of the kind":       {cluster("metadata: {name: c}\nspec: {color: red}\n"), `unknown field "spec.color"`},
		"another kind":                       {"apiVersion: berth.dev/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: c}\n", "a PropagationPolicy cannot be registered"},
		"an unknown kind":                    {"apiVersion: v1\nkind: Klaster\n", "neither a cluster_profile nor a Cluster"},
		"two spellings of a field":           {cluster("metadata: {name: c}\nspec: {matchLables: {a: b}, matchLabels: {a: b}}\n"), "are one field: keep one of them"},
		"nothing":                            {"", "there is no cluster in it"},
		"a reserved name":                    {cluster("metadata: {name: id}\n"), `the name "id" is reserved`},
		"an id":                              {`{"cluster_profile":{"cluster_id":"x","cluster_name":"c","cluster_spec":{"Region":{"region":"r"}}}}`, "cluster_id must be left out"},
		"a bomb":                             {"a: &a [x]\nb: [*a, *a]\n", "anchors and aliases are not accepted"},
		"5 MiB":                              {strings.Repeat("# comment\n", 500_000), "there are more than"},
		"a good one and a bad one":           {cluster("metadata: {name: c}\n") + "---\n" + cluster("spec: {color: red}\n"), "document 2: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := clitest.NewWorld(t)
			clitest.Run(t.Context(), w.Options(), "register", "cluster", "-filename", file(t, tc.content)).CheckFailed(t, tc.want)
			if actions := w.Clients.Berth.Actions(); len(actions) > 0 {
				t.Errorf("the API server was asked: %v", actions)
			}
		})
	}
	clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "register", "-filename", "/nonexistent").CheckFailed(t, "no such file")
}

func TestWhatTheAPIServerSaysAboutClusters(t *testing.T) {
	resource := berthv1alpha1.SchemeGroupVersion.WithResource("clusters").GroupResource()
	forbidden := apierrors.NewForbidden(resource, "c", errors.New(`User "eve" cannot do it`))
	notInstalled := apierrors.NewGenericServerResponse(404, "create", resource, "", "page not found", 0, true)
	tests := map[string]struct {
		verb string
		err  error
		args string
		want string
	}{
		"the name is taken":          {"create", apierrors.NewAlreadyExists(resource, "cluster1"), "register -f FILE", `registering cluster "cluster1": the name is taken by a registered cluster`},
		"no right to register":       {"create", forbidden, "register -f FILE", "ask the administrator for the ClusterRole berth-cluster-editor"},
		"no kind to register":        {"create", notInstalled, "register -f FILE", "the Berth API is not installed"},
		"no right to unregister":     {"delete", forbidden, "unregister cluster1", "ask the administrator for the ClusterRole berth-cluster-editor"},
		"gone meanwhile":             {"delete", apierrors.NewNotFound(resource, "cluster1"), "unregister cluster1", "it is gone already"},
		"another of that name":       {"delete", apierrors.NewConflict(resource, "cluster1", errors.New("UID")), "unregister cluster1", "it is gone already"},
		"no kind to get":             {"get", notInstalled, "get cluster cluster1", "the Berth API is not installed"},
		"no right to list":           {"list", forbidden, "list clusters", "listing clusters: not allowed"},
		"no right to list, by id":    {"list", forbidden, "get cluster -id " + firstID, "listing clusters: not allowed"},
		"no right to list, bindings": {"list", forbidden, "get bindings", "listing clusters: not allowed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := registered(t)
			options := w.Options()
			w.Clients.Berth.PrependReactor(tc.verb, "clusters", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
			args := strings.Fields(strings.Replace(tc.args, "FILE", file(t, example(t)), 1))
			clitest.Run(t.Context(), options, args...).CheckFailed(t, tc.want)
		})
	}
}

func TestUnregisterWhatIsInUse(t *testing.T) {
	world := func() *clitest.World {
		w := registered(t)
		clitest.Place(w.Pod("web", nil), "n1", stamp.Stamp{Policy: "p", Cluster: "cluster1", Seat: 0})
		return w
	}
	clitest.Run(t.Context(), world().Options(), "unregister", "cluster1").
		CheckFailed(t, `replicas that Berth placed still run in cluster "cluster1": move them away first, or use force`)
	clitest.Run(t.Context(), world().Options(), "unregister", "cluster1", "--force").CheckOutput(t, "deleted: cluster1\n")
	clitest.Run(t.Context(), world().Options(), "unregister", "cluster2", "-o", "json").CheckOutput(t, `{"deleted":"cluster2"}`+"\n")
}

func TestUnregisterDeletesOnlyWhatItHasSeen(t *testing.T) {
	w := registered(t)
	options := w.Options()
	var got types.UID
	w.Clients.Berth.PrependReactor("delete", "clusters", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if deletion, ok := action.(clienttesting.DeleteActionImpl); ok && deletion.DeleteOptions.Preconditions != nil {
			got = *deletion.DeleteOptions.Preconditions.UID
		}
		return true, nil, nil
	})
	clitest.Run(t.Context(), options, "unregister", "cluster1").CheckOutput(t, "deleted: cluster1\n")
	if got != firstID {
		t.Errorf("the deletion is of %q", got)
	}
}

// A name may hold control characters only in a file that somebody else wrote.
func TestMessagesAreHarmless(t *testing.T) {
	content := `{"cluster_profile":{"\u001b[31m":1}}`
	got := clitest.Run(t.Context(), cli.Options{}, "register", "-filename", file(t, content))
	if got.Code != 1 || strings.ContainsRune(got.Err, '\x1b') {
		t.Errorf("exit status %d, printed %q", got.Code, got.Err)
	}
}
