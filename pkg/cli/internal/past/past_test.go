// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package past_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/past"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/history/serve"
)

// sources reads flags.
func sources(t *testing.T, args ...string) *past.Sources {
	t.Helper()
	var f past.Sources
	flags := pflag.NewFlagSet("explain", pflag.ContinueOnError)
	f.AddTo(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &f
}

// checkError checks that an error has the text, or that there is none if that is empty.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"none":                  {},
		"alone":                 {args: []string{"--history"}},
		"of a program":          {args: []string{"--history", "--history-from=https://127.0.0.1:10263", "--history-from=https://[::1]:1/"}},
		"a program, not wanted": {args: []string{"--history-from=https://127.0.0.1:1"}, want: "go with --history"},
		"an authority alone":    {args: []string{"--history-ca=ca.crt"}, want: "go with --history"},
		"without TLS":           {args: []string{"--history", "--history-from=http://127.0.0.1:1"}, want: "is no URL"},
		"without a scheme":      {args: []string{"--history", "--history-from=127.0.0.1:1"}, want: "is no URL"},
		"with a path":           {args: []string{"--history", "--history-from=https://a/b"}, want: "is no URL"},
		"with a query":          {args: []string{"--history", "--history-from=https://a?b=c"}, want: "is no URL"},
		"with a password":       {args: []string{"--history", "--history-from=https://a:b@c"}, want: "is no URL"},
	} {
		t.Run(name, func(t *testing.T) { checkError(t, sources(t, test.args...).Check(), test.want) })
	}
}

func TestSilence(t *testing.T) {
	heard := past.Answer{Answer: history.Answer{Process: "a"}}
	away := past.Answer{Answer: history.Answer{Process: "b"}, Error: "refused"}
	for name, test := range map[string]struct {
		answers []past.Answer
		want    string
	}{
		"nobody was asked": {},
		"all were asked":   {[]past.Answer{heard, heard}, ", and no process remembers it"},
		"some were asked":  {[]past.Answer{away, heard}, ", and no process remembers it"},
		"none could be":    {[]past.Answer{away, away}, ", and no process could be asked what it remembers: b: refused"},
	} {
		if got := past.Silence(test.answers); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestAskWithoutTargets(t *testing.T) {
	other := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: berthv1alpha1.SystemNamespace, Name: "a"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Args: []string{"--history-bind-address=nothing", "--v=2"}}}},
	}
	impersonates := &rest.Config{Impersonate: rest.ImpersonationConfig{UserName: "somebody"}}
	for name, test := range map[string]struct {
		config *rest.Config
		args   []string
		want   string
	}{
		"without a kubeconfig":           {want: "needs a kubeconfig"},
		"as somebody else":               {config: impersonates, want: "own credentials"},
		"no pod serves it":               {config: &rest.Config{}, want: "no pod of namespace " + berthv1alpha1.SystemNamespace},
		"an authority that is not there": {config: &rest.Config{}, args: []string{"--history-from=https://a", "--history-ca=/nowhere/ca.crt"}, want: "--history-ca"},
	} {
		t.Run(name, func(t *testing.T) {
			clients := client.Clients{Kubernetes: fake.NewClientset(other), Config: test.config}
			_, err := sources(t, append(test.args, "--history")...).Ask(t.Context(), clients, history.Object{Kind: "Pod", Name: "a"})
			checkError(t, err, test.want)
		})
	}
}

func TestAsk(t *testing.T) {
	for name, test := range map[string]struct {
		status      int
		body        string
		wantProcess string
		wantEntries int
		wantError   string
	}{
		"an answer":        {status: http.StatusOK, body: `{"process":"s","entries":[{"times":2}]}`, wantProcess: "s", wantEntries: 1},
		"a nameless one":   {status: http.StatusOK, body: `{"entries":[]}`},
		"a refusal":        {status: http.StatusForbidden, body: "not\nyou", wantError: "it answers 403: not"},
		"a long refusal":   {status: http.StatusBadGateway, body: strings.Repeat("x", 1<<20), wantError: "it answers 502: xxx"},
		"no JSON":          {status: http.StatusOK, body: "<html>", wantError: "reading the answer"},
		"nothing":          {status: http.StatusOK, wantError: "reading the answer"},
		"a half":           {status: http.StatusOK, body: `{"entries":[`, wantError: "reading the answer"},
		"another type":     {status: http.StatusOK, body: `{"entries":"many"}`, wantError: "reading the answer"},
		"a redirection":    {status: http.StatusFound, body: "elsewhere", wantError: "it answers 302"},
		"fields of others": {status: http.StatusOK, body: `{"process":"s","more":1,"entries":[]}`, wantProcess: "s"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				const wantQuery = "group=&kind=Pod&name=a+b&namespace=shop"
				if r.URL.Path != serve.Path || r.URL.RawQuery != wantQuery || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("asked for %s with %v", r.URL, r.Header)
				}
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}))
			defer server.Close()
			clients := client.Clients{Config: &rest.Config{BearerToken: "secret"}}
			answers, err := sources(t, "--history", "--history-from="+server.URL).
				Ask(t.Context(), clients, history.Object{Kind: "Pod", Namespace: "shop", Name: "a b"})
			if err != nil || len(answers) != 1 {
				t.Fatalf("%d answers, error %v", len(answers), err)
			}
			got := answers[0]
			checkRefusal(t, got.Error, test.wantError)
			if want := cmp.Or(test.wantProcess, server.URL); got.Process != want {
				t.Errorf("process %q, want %q", got.Process, want)
			}
			if len(got.Entries) != test.wantEntries || got.Entries == nil {
				t.Errorf("%d entries, want %d", len(got.Entries), test.wantEntries)
			}
		})
	}
}

// checkRefusal checks that a process is told to have said what it should, in few words.
func checkRefusal(t *testing.T, got, want string) {
	t.Helper()
	if (got == "") != (want == "") || !strings.Contains(got, want) || len(got) > 1024 {
		t.Errorf("error %.200q, want %q", got, want)
	}
}
