# Every target installs what it needs and runs on the Node 24 that npm brings (scripts/node), regardless of the
# system's own Node (20 or newer, for npm).
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

NODE := scripts/node
INSTALLED := node_modules/.installed
# The generator of the documentation site is no part of the product: it has packages of its own.
SITE_INSTALLED := scripts/site/node_modules/.installed

.PHONY: help install run build test fuzz examples golden generate format bench bench-allocation bench-features bench-mirror bench-control bench-metrics bench-scale bench-snapshot bench-start bench-translate dashboards clean \
	docs docs-serve release release-check release-base \
	cluster-up cluster-down image deploy undeploy e2e e2e-cert-manager e2e-skew conformance

help: ## Show the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

install: $(INSTALLED) ## Install the dependencies, if necessary

$(INSTALLED): package.json package-lock.json
	npm ci --loglevel=error
	@touch $@

run: build ## Serve the examples, or your own folder with MANIFESTS=dir
	@exec $(NODE) scripts/run.ts $(if $(MANIFESTS),'$(MANIFESTS)')

$(SITE_INSTALLED): scripts/site/package.json scripts/site/package-lock.json
	npm ci --prefix scripts/site --loglevel=error
	@touch $@

build: $(INSTALLED) ## Bundle the command line into dist/
	@$(NODE) scripts/build.ts

test: $(INSTALLED) $(SITE_INSTALLED) ## Run every check and test that needs no cluster: JOBS, as many at once as processors
	@$(NODE) scripts/test.ts

fuzz: $(INSTALLED) ## Compare the proxy's own parser of HTTP/1 with Node's on generated connections: RUNS, SEED
	@RUNS=$${RUNS:-1000000} $(NODE) node_modules/mocha/bin/mocha.js proxy/test/http/h1/native/differential.test.ts

examples: build ## Serve every example, send its requests, and print what is answered
	@$(NODE) scripts/examples/main.ts

golden: $(INSTALLED) ## Rewrite the expected outputs of the golden tests
	@GOLDEN=write $(NODE) node_modules/mocha/bin/mocha.js --reporter dot '*/test/**/golden.test.ts'

generate: $(INSTALLED) ## Rewrite generated code and pages
	@$(NODE) scripts/generate-api.ts
	@$(NODE) scripts/generate-proto.ts
	@$(NODE) scripts/generate-docs.ts
	@$(NODE) scripts/generate-chart.ts

docs: $(INSTALLED) $(SITE_INSTALLED) ## Build the documentation site in dist/site: BASE=folder, VERSIONS=all
	@$(NODE) scripts/site/main.ts

docs-serve: docs ## Build the documentation site and serve it: PORT, 8000 by default
	@SITE_SETTINGS='$(CURDIR)/.cache/site/current/settings.json' $(NODE) scripts/site/node_modules/vitepress/bin/vitepress.js \
	  preview scripts/site --port $${PORT:-8000}

format: $(INSTALLED) ## Format all files
	@node_modules/.bin/prettier --write --log-level warn .

bench: build ## Measure side by side with nginx, HAProxy and Envoy: CASES, SUBJECTS, ROUNDS, SECONDS, BASELINE=ref
	@$(NODE) bench/compare/main.ts

bench-allocation: build ## Measure the bytes that a worker allocates for each request: SECONDS, BASELINE=ref
	@$(NODE) bench/allocation/main.ts

bench-features: build ## Measure what each feature of a route costs by itself: CASES, ROUNDS, SECONDS, BASELINE=ref
	@$(NODE) bench/features/main.ts

bench-mirror: build ## Show what a slow or dead mirror does to latency
	@$(NODE) bench/mirror/main.ts

bench-control: build ## Measure how fast changes reach clients, and a controller with 10,000 Ingresses
	@$(NODE) bench/control/main.ts

bench-metrics: $(INSTALLED) ## Measure the cost of reading /metrics with traffic on all of 10,000 routes: ROUTES, WORKERS
	@$(NODE) bench/metrics/main.ts

bench-scale: build ## Measure what 10,000 routes and a second worker cost each request: ROUNDS, SECONDS
	@$(NODE) bench/scale/main.ts

bench-snapshot: $(INSTALLED) ## Measure how long snapshots of many routes stop requests, and their memory: ROUTES, WORKERS, ROUNDS
	@$(NODE) bench/snapshot/main.ts

bench-start: build ## Measure how long a start with 10,000 routes takes until the first request: ROUTES, ROUNDS, PROCESSORS
	@$(NODE) bench/start/main.ts

bench-translate: $(INSTALLED) ## Measure the controller's own work in processor time: INGRESSES, ROUTES
	@$(NODE) --max-semi-space-size=8 bench/translate/main.ts

dashboards: build ## Draw the dashboards for the documentation, from a real Prometheus and traffic: SECONDS
	@$(NODE) bench/dashboards/main.ts

soak: build ## Run mixed traffic for ten minutes while routes change and backends restart: SECONDS, CONNECTIONS
	@$(NODE) bench/soak/main.ts

cluster-up: $(INSTALLED) ## Start the test cluster: CLUSTER=kind, or CLUSTER=local without Docker
	@e2e/cluster/provider up

cluster-down: ## Delete the test cluster
	@e2e/cluster/provider down

image: build ## Build the image for the test cluster
	@$(NODE) e2e/deploy/main.ts image

deploy: build ## Install on the test cluster, and print a first request
	@$(NODE) e2e/deploy/main.ts deploy

undeploy: $(INSTALLED) ## Uninstall from the test cluster
	@$(NODE) e2e/deploy/main.ts undeploy

e2e: build ## Test on a real cluster: TESTS=files, KEEP=1 leaves it up, FRESH=1 starts a new one
	@$(NODE) e2e/run.ts

e2e-cert-manager: build ## Issue a certificate on such a cluster with the real cert-manager and an ACME server
	@TESTS='e2e/cert-manager/*.test.ts' $(NODE) e2e/run.ts

e2e-skew: build ## Run proxies and controllers of this and the previous release together: PREVIOUS=commit or tag
	@TESTS='e2e/skew/*.test.ts' $(NODE) e2e/run.ts

conformance: build ## Run the Gateway API conformance suite: MODE, TESTS, SELECTION=steady, REPORT=1
	@$(NODE) e2e/conformance/main.ts

release: $(INSTALLED) ## Build the files of a release into dist/release/VERSION: VERSION=1.2.3, COSIGN_KEY signs
	@VERSION='$(VERSION)' $(NODE) scripts/release/main.ts

release-check: $(INSTALLED) ## Build a release twice, compare the bytes, install and run it
	@$(NODE) scripts/release/check.ts

release-base: $(INSTALLED) ## Pin the current Debian packages of the image's base
	@$(NODE) scripts/release/base/lock.ts

clean: ## Remove everything that the other targets made, dependencies included
	rm -rf dist coverage .cache node_modules scripts/site/node_modules config/examples/quickstart/generated
