# The front door. `make help` lists the targets; each sets up what it needs on a Debian machine.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)

.PHONY: help deps build demo test test-cluster e2e-volcano bench fuzz lint format image chart-test render-deploy clean

help: ## This list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

deps: ## Install the Debian packages
	@scripts/install-deps.sh $(DEPS)

build: deps ## Build everything (PRESET=dev|release|asan|tsan|gcc)
	@scripts/build.sh $(PRESET)

demo: DEPS := build
demo: deps ## Build, serve on a free port, post recorded reviews, show the verdicts
	@scripts/build.sh $(PRESET) xila-guard
	@python3 scripts/demo.py --binary $(BUILD)/xila-guard

test: build ## Build and pass every test
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS)

test-cluster: build ## The same binary under a real API server (KUBEBUILDER_ASSETS: etcd, kube-apiserver, kubectl)
	@scripts/test-cluster.sh $(BUILD)/xila-guard

e2e-volcano: ## Real, unmodified Volcano and Xila Guard on one workload
	@scripts/e2e-volcano.sh

bench: build ## Time the decision, and the server against a constant one
	@$(BUILD)/bench/xila_bench
	@python3 scripts/bench_server.py $(BUILD)

fuzz: deps ## Fuzz every target for FUZZ_SECONDS (default 60) each
	@scripts/build.sh fuzz
	@scripts/fuzz.sh build/fuzz $${FUZZ_SECONDS:-60}

lint: deps ## Formatting, spelling, shell scripts, module rules, clang-tidy
	@scripts/lint.sh

format: deps ## Format every source
	@git ls-files '*.hpp' '*.cpp' | xargs clang-format-19 -i

image: ## Build the container image with docker, podman or buildah
	@scripts/build-image.sh

chart-test: ## Render the chart and compare
	@python3 -m unittest discover -s test/chart -p '*_test.py'

render-deploy: ## Write deploy/ anew from the chart
	@scripts/render-deploy.sh

clean: ## Remove every build
	@rm -rf build
