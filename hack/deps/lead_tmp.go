//go:build deps

package deps

import (
	_ "go.uber.org/goleak"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "pgregory.net/rapid"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	_ "k8s.io/cli-runtime/pkg/genericclioptions"
	_ "sigs.k8s.io/kustomize/api/krusty"
	_ "github.com/prometheus/client_golang/api/prometheus/v1"
)
