//go:build deps

// Package deps keeps in go.mod the programs that Berth builds but does not import.
package deps

import (
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "github.com/spf13/cobra"
	_ "go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "pgregory.net/rapid"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling"
	_ "sigs.k8s.io/scheduler-plugins/pkg/coscheduling"
	_ "go.uber.org/goleak"
)
