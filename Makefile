# Everything one does with this repository. `make` alone lists it. Needs Go, git, make and a C compiler; no Docker, no cluster.

SHELL := bash
.NOTPARALLEL:
.DEFAULT_GOAL := help

# The playground and the integration tests find the programs here. KUBERNETES=1.37 chooses another minor than that of go.mod.
bin := $(shell KUBERNETES=$(filter 1.%,$(KUBERNETES)); source hack/kubernetes.sh && echo $$bin)
export BERTH_BIN := $(CURDIR)/$(bin)

##@ Try it

.PHONY: demo
demo: build-all ## Build what is needed, run the main job on a control plane on loopback, show it, clean up.
	@$(bin)/berth-playground demo

.PHONY: playground
playground: build-all ## The same control plane to play with, until Ctrl-C. CLUSTERS=3 NODES=5 set its size.
	@$(bin)/berth-playground up $(if $(CLUSTERS),--clusters=$(CLUSTERS)) $(if $(NODES),--nodes=$(NODES))

##@ Build

.PHONY: build
build: ## Build Berth into bin/. DBG=1 keeps symbols; KUBERNETES=1.37 builds for another minor into bin/kubernetes-1.37.
	@hack/build.sh berth

.PHONY: build-control-plane
build-control-plane: ## Build etcd, kube-apiserver, kube-controller-manager and kwok into bin/, if they are not there yet.
	@hack/build.sh control-plane

.PHONY: build-all
build-all: ## Both.
	@hack/build.sh all

.PHONY: build-bench
build-bench: build-all ## Both, and kube-scheduler, with which the benchmarks compare Berth.
	@hack/build.sh kube-scheduler

.PHONY: build-test
build-test: build-all ## Both, and helm and kubectl, with which chart and tutorials are tested.
	@hack/build.sh helm kubectl

.PHONY: generate
generate: ## Write deep copies, CRDs, clientset, listers and informers from the API types, and the chart from the base.
	@hack/generate.sh

.PHONY: clean
clean: ## Remove bin/, dist/ and what a playground may have left.
	rm -rf bin dist .playground

##@ Test

.PHONY: test
test: build-test ## All tests: what a change has to pass. Each part runs even if another fails.
	@status=0; for part in unit simulation integration; do hack/test.sh $$part || status=$$?; done; exit $$status

.PHONY: test-unit
test-unit: ## Tests of single packages, with the race detector but for long ones of one goroutine. RUN=REGEXP limits them.
	@hack/test.sh unit

.PHONY: test-integration
test-integration: build-test ## Tests against etcd, kube-apiserver, kube-controller-manager and kwok on loopback. SUITES="scheduler" limits them.
	@hack/test.sh integration

.PHONY: test-race
test-race: build-test ## All tests with the race detector, the integration tests too.
	@hack/test.sh race

.PHONY: test-upstream
test-upstream: build-control-plane ## kube-scheduler's own integration tests with Berth's plugins in every profile: 20 minutes and more. RUN=REGEXP or SUITES="bind taint" limits them.
	@hack/upstream.sh $(SUITES)

.PHONY: simulate-faults
simulate-faults: ## Run a simulated world full of faults. SEED=6 repeats one; TIMES=10, ORDER=2, DURATION=60s and SCENARIO=FILE stand in docs/reference/reliability.md.
	@hack/simulate.sh $(if $(TIMES),times "$(TIMES)" "$(SEED)",$(if $(DURATION),--record) $(if $(SCENARIO),scenario "$(SCENARIO)","$(SEED)" "$(DURATION)"))

.PHONY: simulate-kills
simulate-kills: ## Kill each of Berth's processes before and after each write that it makes in a simulated world. SEED=6 chooses it.
	@hack/simulate.sh --record kills "$(SEED)"

.PHONY: simulate-objects
simulate-objects: ## Make, change and delete random objects of all of Berth's kinds in a simulated world. SEED=6, DURATION=60s, SCENARIO=FILE as above.
	@hack/simulate.sh $(if $(DURATION),--record) objects $(if $(SCENARIO),scenario "$(SCENARIO)","$(SEED)" "$(DURATION)")

.PHONY: simulate-planted
simulate-planted: ## Plant faults in Berth, one at a time, and see whether simulated worlds find them. ONLY=grants chooses some by their names.
	@go run ./test/planted -record docs/reference $(if $(ONLY),-only "$(ONLY)")

.PHONY: chaos
chaos: build-all ## Disturb Berth's programs as processes, and judge every revision, for DURATION=15m. SEED=6 PODS=2000 PAGES=20 choose the world.
	@hack/chaos.sh -record docs/reference $(if $(SEED),-seed $(SEED)) $(if $(DURATION),-duration $(DURATION)) $(if $(PODS),-pods $(PODS)) $(if $(PAGES),-pages $(PAGES))

.PHONY: chaos-smoke
chaos-smoke: build-all ## The same in about three minutes, with 150 pods, 20 pages open and one storm.
	@hack/chaos.sh -pods 150 -pages 20 -duration 1s -storm 30s -outage 10s $(if $(SEED),-seed $(SEED))

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME=20s.
	@hack/test.sh fuzz

##@ Measure

.PHONY: bench
bench: build-bench ## Compare Berth with its peers: about twenty minutes on two processors, with nothing else to do. Writes docs/reference/benchmarks.md.
	@go run ./test/perf

.PHONY: bench-smoke
bench-smoke: build-bench ## The same in two minutes, which shows only what is far off. Writes no documentation.
	@go run ./test/perf -smoke

.PHONY: bench-scale
bench-scale: build-bench ## How cost grows: 5,000 nodes, 150,000 pods, 1,000 Clusters, 2,000 policies. 30 to 40 minutes and 12 GB; FACTOR=0.05 for less.
	@go run ./test/perf -scale -factor $(or $(FACTOR),1)

.PHONY: bench-go
bench-go: ## Run the Go benchmarks of all packages. BENCH=REGEXP COUNT=5 choose which and how often.
	@hack/test.sh bench

##@ Check

.PHONY: verify
verify: build-all ## Generated code, modules, format, lint, licences, manifests, vulnerabilities, size; allocations, statements and API writes per pod.
	@hack/verify.sh

.PHONY: lint
lint: ## Only the linters of .golangci.yml.
	@hack/verify.sh format lint

.PHONY: vulncheck
vulncheck: ## Fail if code that is called has a known vulnerability. Needs the network.
	@STRICT=1 hack/verify.sh vulnerabilities

##@ Release

.PHONY: images
images: ## Write the images into dist/images/ as OCI layouts, without Docker. PUSH=1 REGISTRY=registry.example.com/berth send them there.
	@hack/release.sh images

.PHONY: release
release: ## Write all that users install into dist/. VERSION=v0.1.0 REGISTRY=registry.example.com/berth name the images.
	@hack/release.sh

##@ Maintain

.PHONY: update-kubernetes
update-kubernetes: ## Move to another Kubernetes release: KUBERNETES=v1.35.8.
	@hack/update-kubernetes.sh "$(KUBERNETES)"

.PHONY: help
help: ## This list.
	@awk 'BEGIN { FS = ":.*## "; print "Usage: make TARGET" } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
