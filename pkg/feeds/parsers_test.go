// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/feeds"
)

// halfCore is a pod template that requests half a core.
const halfCore = `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"500m"}}}]}}`

func manifestOf(apiVersion, kind, spec string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"web","namespace":"shop"},"spec":%s}`, apiVersion, kind, spec)
}

func TestParsersOfKubernetes(t *testing.T) {
	one, three := ptr.To[int32](1), ptr.To[int32](3)
	jobSpec := func(fields string) string { return `{` + fields + `"template":` + halfCore + `}` }
	cronSpec := func(fields string) string { return `{"suspend":true,"jobTemplate":{"spec":` + jobSpec(fields) + `}}` }
	withStatus := func(spec, status string) string {
		return strings.TrimSuffix(manifestOf("batch/v1", "Job", spec), "}") + `,"status":` + status + `}`
	}
	const cronPath = "/spec/jobTemplate/spec/parallelism"
	tests := map[string]struct {
		raw          string
		wantReplicas *int32
		wantPath     string
		wantNothing  bool
	}{
		"a Deployment":                          {raw: manifestOf("apps/v1", "Deployment", jobSpec(`"replicas":3,`)), wantReplicas: three, wantPath: "/spec/replicas"},
		"without replicas":                      {raw: manifestOf("apps/v1", "Deployment", jobSpec("")), wantReplicas: one, wantPath: "/spec/replicas"},
		"with replicas that are null":           {raw: manifestOf("apps/v1", "Deployment", jobSpec(`"replicas":null,`)), wantReplicas: one, wantPath: "/spec/replicas"},
		"scaled to 0":                           {raw: manifestOf("apps/v1", "StatefulSet", jobSpec(`"replicas":0,`)), wantReplicas: ptr.To[int32](0), wantPath: "/spec/replicas"},
		"as many as there can be":               {raw: manifestOf("apps/v1", "ReplicaSet", jobSpec(`"replicas":2147483647,`)), wantReplicas: ptr.To[int32](2147483647), wantPath: "/spec/replicas"},
		"a ReplicationController":               {raw: manifestOf("v1", "ReplicationController", jobSpec(`"replicas":3,`)), wantReplicas: three, wantPath: "/spec/replicas"},
		"of an old version":                     {raw: manifestOf("extensions/v1beta1", "Deployment", jobSpec(`"replicas":3,`)), wantReplicas: three, wantPath: "/spec/replicas"},
		"a template that is missing":            {raw: manifestOf("apps/v1", "Deployment", `{"replicas":3}`), wantReplicas: three, wantPath: "/spec/replicas", wantNothing: true},
		"a DaemonSet":                           {raw: manifestOf("apps/v1", "DaemonSet", jobSpec(""))},
		"a Pod":                                 {raw: manifestOf("v1", "Pod", strings.TrimSuffix(strings.TrimPrefix(halfCore, `{"spec":`), "}"))},
		"a Job":                                 {raw: manifestOf("batch/v1", "Job", jobSpec("")), wantReplicas: one, wantPath: "/spec/parallelism"},
		"a Job with workers":                    {raw: manifestOf("batch/v1", "Job", jobSpec(`"parallelism":3,`)), wantReplicas: three, wantPath: "/spec/parallelism"},
		"a Job with one after another":          {raw: manifestOf("batch/v1", "Job", jobSpec(`"completions":3,`)), wantReplicas: one, wantPath: "/spec/parallelism"},
		"a Job with more workers than it needs": {raw: manifestOf("batch/v1", "Job", jobSpec(`"parallelism":5,"completions":3,`)), wantReplicas: three, wantPath: "/spec/parallelism"},
		"a Job that is suspended":               {raw: manifestOf("batch/v1", "Job", jobSpec(`"parallelism":5,"suspend":true,`)), wantReplicas: ptr.To[int32](0), wantPath: "/spec/parallelism"},
		"a Job that is nearly done":             {raw: withStatus(jobSpec(`"parallelism":5,"completions":9,`), `{"succeeded":6,"active":3}`), wantReplicas: three, wantPath: "/spec/parallelism"},
		"a Job that is done":                    {raw: withStatus(jobSpec(""), `{"conditions":[{"type":"Complete","status":"True"}]}`), wantReplicas: ptr.To[int32](0), wantPath: "/spec/parallelism"},
		"a Job that counts wrong":               {raw: withStatus(jobSpec(`"parallelism":2147483647,"completions":2147483647,`), `{"succeeded":-9}`), wantReplicas: ptr.To[int32](2147483647), wantPath: "/spec/parallelism"},
		"a CronJob":                             {raw: manifestOf("batch/v1", "CronJob", cronSpec(`"parallelism":5,"completions":3,`)), wantReplicas: three, wantPath: cronPath},
		"a CronJob of an old version":           {raw: manifestOf("batch/v1beta1", "CronJob", cronSpec("")), wantReplicas: one, wantPath: cronPath},
		"a CronJob that is running":             {raw: strings.TrimSuffix(manifestOf("batch/v1", "CronJob", cronSpec(`"parallelism":3,`)), "}") + `,"status":{"active":[{"name":"a"}]}}`, wantReplicas: three, wantPath: cronPath},
		"another kind":                          {raw: manifestOf("v1", "Service", `{"replicas":3}`), wantNothing: true},
		"a kind of that name elsewhere":         {raw: manifestOf("example.com/v1", "Deployment", jobSpec(`"replicas":3,`)), wantNothing: true},
		"a kind with other capitals":            {raw: manifestOf("apps/v1", "deployment", jobSpec(`"replicas":3,`)), wantNothing: true},
		"replicas with other capitals":          {raw: manifestOf("apps/v1", "Deployment", jobSpec(`"Replicas":3,`)), wantReplicas: one, wantPath: "/spec/replicas"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			feed, err := builtIn(t).Read([]byte(tc.raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantReplicas, feed.DesiredReplicas); diff != "" {
				t.Errorf("replicas differ (-want +got):\n%s", diff)
			}
			if feed.ReplicaJSONPath != tc.wantPath {
				t.Errorf("path %q, want %q", feed.ReplicaJSONPath, tc.wantPath)
			}
			want := amounts{"cpu": "500m"}
			if tc.wantNothing {
				want = nil
			}
			checkAmounts(t, "requests", want, feed.ReplicaRequirements.Resources.Requests)
		})
	}
}

func TestReadRefuses(t *testing.T) {
	deployment := func(spec string) string { return manifestOf("apps/v1", "Deployment", spec) }
	template := func(spec string) string { return deployment(`{"template":{"spec":` + spec + `}}`) }
	requests := func(amount string) string {
		return template(`{"containers":[{"resources":{"requests":{"cpu":` + amount + `}}}]}`)
	}
	const whole = "/spec/replicas: must be a whole number from 0 to 2147483647, not "
	tests := map[string]struct{ raw, want string }{
		"nothing":                           {"", "this is no object"},
		"no name":                           {`{"apiVersion":"apps/v1","kind":"Deployment"}`, "metadata.name is missing"},
		"the name of the object is said":    {deployment(`{"replicas":-1}`), `Deployment "web": ` + whole + "-1"},
		"one replica too many":              {deployment(`{"replicas":2147483648}`), whole + "2147483648"},
		"a huge number":                     {deployment(`{"replicas":99999999999999999999}`), whole + "99999999999999999999"},
		"an exponent":                       {deployment(`{"replicas":1e3}`), whole + "1e3"},
		"a fraction":                        {deployment(`{"replicas":1.5}`), whole + "1.5"},
		"a text":                            {deployment(`{"replicas":"3"}`), whole + `"3"`},
		"true":                              {deployment(`{"replicas":true}`), whole + "true"},
		"a map":                             {deployment(`{"replicas":{}}`), whole + "a map"},
		"a list":                            {deployment(`{"replicas":[1]}`), whole + "a list"},
		"no spec":                           {`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}`, `/spec/replicas leads nowhere: there is no "spec"`},
		"a spec that is a text":             {deployment(`"x"`), `/spec/replicas leads nowhere: "spec" is neither a map nor a list`},
		"a spec that is a list":             {deployment(`[]`), `/spec/replicas leads nowhere: the list has no element "replicas"`},
		"a template that is a list":         {deployment(`{"template":[]}`), "/spec/template: must be a pod template"},
		"a pod that is a number":            {deployment(`{"template":{"spec":1}}`), "/spec/template: spec: must not be of type number"},
		"containers that are a map":         {template(`{"containers":{}}`), "/spec/template: spec.containers: must not be of type object"},
		"a selector with a number":          {template(`{"nodeSelector":{"a":1}}`), "/spec/template: spec.nodeSelector: must not be of type number"},
		"a toleration that is a text":       {template(`{"tolerations":["x"]}`), "/spec/template: spec.tolerations: must not be of type string"},
		"a huge negative exponent":          {requests(`"1e-2147483647"`), `/spec/template: the quantity "1e-2147483647" must be a number such as`},
		"a huge exponent as a number":       {requests(`1e-2147483647`), `the quantity "1e-2147483647" must be a number`},
		"an exponent that is too large":     {requests(`"1e19"`), "must have an exponent from -18 to 18"},
		"a very long quantity":              {requests(`"` + strings.Repeat("1", 100_000) + `"`), "has more than 32 characters"},
		"a negative quantity":               {requests(`"-1"`), "must not be negative"},
		"a quantity with an unknown unit":   {requests(`"1GB"`), "must be a number such as"},
		"a quantity that is empty":          {requests(`""`), "must be a number such as"},
		"a quantity that is a map":          {requests(`{}`), "must be a number such as"},
		"a quantity beyond what is counted": {requests(`"10P"`), "is larger than 9223372036854775"},
		"a sum beyond what is counted": {
			template(`{"containers":[` + strings.Repeat(`{"resources":{"requests":{"cpu":"9P"}}},`, 200) + `{}]}`),
			"cpu: the sum of all containers is larger than 9223372036854775",
		},
		"a limit beyond what is counted": {
			template(`{"containers":[` + strings.Repeat(`{"resources":{"requests":{"x":0},"limits":{"x":"9P"}}},`, 200) + `{}]}`),
			"x: the sum of all containers is larger",
		},
		"parallelism that is negative":   {manifestOf("batch/v1", "Job", `{"parallelism":-1}`), "/spec/parallelism: must be a whole number"},
		"completions that are a text":    {manifestOf("batch/v1", "Job", `{"completions":"x"}`), "/spec/completions: must be a whole number"},
		"suspend that is a text":         {manifestOf("batch/v1", "Job", `{"suspend":"yes"}`), "/spec/suspend: must be true or false"},
		"a status that is a text":        {strings.TrimSuffix(manifestOf("batch/v1", "Job", `{}`), "}") + `,"status":"x"}`, "/status: "},
		"a CronJob without a Job":        {manifestOf("batch/v1", "CronJob", `{}`), "/spec/jobTemplate/spec/parallelism leads nowhere"},
		"a duplicate key":                {deployment(`{"replicas":1,"replicas":2}`), `the key "replicas" is there twice`},
		"an unknown kind, written badly": {`{"apiVersion":"v1","kind":"X","metadata":{"name":"a"},"a":1,"a":2}`, `the key "a" is there twice`},
		"nesting of 10,000":              {deployment(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), "nested more than 100 levels deep"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			feed, err := builtIn(t).Read([]byte(tc.raw))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("read as %+v, error %.300v, want %q", feed, err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
				t.Errorf("the error is long: %.1000q", err)
			}
		})
	}
}

func TestQuantities(t *testing.T) {
	for text, want := range map[string]string{
		`"500m"`: "500m", `"0.5"`: "500m", `0.5`: "500m", `2`: "2", `"1Gi"`: "1Gi", `"129e6"`: "129M", `"1E3"`: "1k", `"1E"`: "", `"5."`: "5",
		`".5"`: "500m", `"+1"`: "1", `"1e-3"`: "1m", `"1n"`: "1n", `"100u"`: "100u", `null`: "0", `0`: "0", `"1Ki"`: "1Ki", `"9223372036854775"`: "9223372036854775",
		`"9223372036854776"`: "", `"1 "`: "", `"1e"`: "", `"e3"`: "", `"1e+"`: "", `"0x10"`: "", `"\u0031"`: "1", `true`: "",
	} {
		t.Run(text, func(t *testing.T) {
			raw := manifestOf("v1", "Pod", `{"containers":[{"resources":{"requests":{"memory":`+text+`}}}]}`)
			feed, err := builtIn(t).Read([]byte(raw))
			if (err != nil) != (want == "") {
				t.Fatalf("error %v, want %q", err, want)
			}
			if err == nil {
				checkAmounts(t, "requests", amounts{"memory": want}, feed.ReplicaRequirements.Resources.Requests)
			}
		})
	}
}

// TestResources shows the rules; TestResourcesAreThoseOfTheScheduler checks them.
func TestResources(t *testing.T) {
	tests := map[string]struct {
		pod                      string
		wantRequests, wantLimits amounts
	}{
		"sidecars run beside the containers": {
			pod:          `{"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],"containers":[{"resources":{"requests":{"cpu":"2"}}}]}`,
			wantRequests: amounts{"cpu": "3"},
		},
		"init containers run beside the sidecars before them": {
			pod: `{"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"5"}}}],
				"containers":[{"resources":{"requests":{"cpu":"2"}}}]}`,
			wantRequests: amounts{"cpu": "6"},
		},
		"resources of the pod come before those of containers": {
			pod:          `{"resources":{"requests":{"cpu":"4"}},"containers":[{"resources":{"requests":{"cpu":"2","memory":"1Gi"}}}]}`,
			wantRequests: amounts{"cpu": "4", "memory": "1Gi"},
		},
		"a limit of the pod stands in for requests": {
			pod:          `{"resources":{"limits":{"cpu":"4"}},"containers":[{}]}`,
			wantRequests: amounts{"cpu": "4"}, wantLimits: amounts{"cpu": "4"},
		},
		"what containers request comes before a limit of the pod": {
			pod:          `{"resources":{"limits":{"cpu":"4"}},"containers":[{"resources":{"requests":{"cpu":"1"}}}]}`,
			wantRequests: amounts{"cpu": "1"}, wantLimits: amounts{"cpu": "4"},
		},
		"overhead is added to requests, and to limits that exist": {
			pod:          `{"overhead":{"cpu":"250m","memory":"64Mi"},"containers":[{"resources":{"limits":{"cpu":"1"}}}]}`,
			wantRequests: amounts{"cpu": "1250m", "memory": "64Mi"}, wantLimits: amounts{"cpu": "1250m"},
		},
		"limits of init containers stand in too": {
			pod:          `{"initContainers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}],"containers":[{}]}`,
			wantRequests: amounts{"nvidia.com/gpu": "1"}, wantLimits: amounts{"nvidia.com/gpu": "1"},
		},
		"fields of another Kubernetes do not matter": {
			pod: `{"tomorrow":{"cpu":"1e-2147483647"},"volumes":[{"emptyDir":{"sizeLimit":"1e-2147483647"}}],"containers":[{"resources":{"claims":[{"name":"x"}]}}]}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			feed, err := builtIn(t).Read([]byte(manifestOf("v1", "Pod", tc.pod)))
			if err != nil {
				t.Fatal(err)
			}
			checkAmounts(t, "requests", tc.wantRequests, feed.ReplicaRequirements.Resources.Requests)
			checkAmounts(t, "limits", tc.wantLimits, feed.ReplicaRequirements.Resources.Limits)
		})
	}
}

func TestRequirementsAreCopiedVerbatim(t *testing.T) {
	want := corev1.PodSpec{
		NodeSelector: map[string]string{"disk": "ssd"},
		Tolerations:  []corev1.Toleration{{Key: "edge", Operator: corev1.TolerationOpExists, TolerationSeconds: ptr.To[int64](30)}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "kubernetes.io/hostname"}},
		}},
		Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}},
	}
	spec, err := json.Marshal(map[string]any{"template": map[string]any{"spec": want}})
	if err != nil {
		t.Fatal(err)
	}
	feed, err := builtIn(t).Read([]byte(manifestOf("apps/v1", "DaemonSet", string(spec))))
	if err != nil {
		t.Fatal(err)
	}
	got := corev1.PodSpec{
		NodeSelector: feed.ReplicaRequirements.NodeSelector, Tolerations: feed.ReplicaRequirements.Tolerations,
		Affinity: feed.ReplicaRequirements.Affinity, Containers: []corev1.Container{{Resources: feed.ReplicaRequirements.Resources}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requirements differ (-want +got):\n%s", diff)
	}
}

// TestParsersNameThemselves checks what users and logs are shown.
func TestParsersNameThemselves(t *testing.T) {
	for kind, parser := range feeds.BuiltIn() {
		if parser.Kind() != kind.Kind || parser.Name() != kind.Kind {
			t.Errorf("%s: kind %q, name %q", kind, parser.Kind(), parser.Name())
		}
	}
	if len(feeds.BuiltIn()) != 12 {
		t.Errorf("%d parsers", len(feeds.BuiltIn()))
	}
}
