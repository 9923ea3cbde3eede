# The commands of this repository. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# What this module's programs say they are: the tag, or the commit, "-dirty" where files are changed.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
DATE := $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
BUILD := lodestone/pkg/build

# Tools stand outside go.mod: golangci-lint alone would bring two hundred modules into it.
GOLANGCI_VERSION := v2.15.0
GOLANGCI := .cache/bin/golangci-lint-$(GOLANGCI_VERSION)
GORELEASER_VERSION := v2.15.1
GORELEASER := .cache/bin/goreleaser-$(GORELEASER_VERSION)
MD2MAN_VERSION := v2.0.7
MD2MAN := .cache/bin/go-md2man-$(MD2MAN_VERSION)
GOTESTSUM_VERSION := v1.13.0
GOTESTSUM := .cache/bin/gotestsum-$(GOTESTSUM_VERSION)
INTER_VERSION := 4.1.1
FONTTOOLS := fonttools==4.68.0 brotli==1.2.1

# Static, without the paths of this machine, and the same whatever the state of the checkout. Lint and tests compile in the same way,
# so each package is compiled once, and once more for the race detector.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

# Lint runs vet, and no test reads the tables of debuggers: vetting and linking them again for each package takes a tenth of the time.
GOTEST := go test -vet=off -ldflags=-w

# The front-ends. Each is TypeScript in PACKAGE/web, whose `npm run build` writes PACKAGE/dist, and
# there manifest.json last; Go embeds dist.
WEB := crud/viewer crud/embed crud/dashboard/frame/island ingest/collector
WEB_BUILT := $(WEB:%=%/dist/manifest.json)
NPM_CI := npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error

# The modules of this repository. The laboratory, the tests of the Helm chart and what makes releases are of
# their own, so that the product does not depend on what they need.
LAB := cmd/lodestone-lab
RELEASE := cmd/lodestone-release
CHART := deploy/helm/test
MODULES := . $(LAB) $(CHART) $(RELEASE)

# Packages whose tests build and run the programs.
UNCACHED := cmd|pkg/layout
# Packages of the way of an event, whose tests always run with the race detector.
WAY := ingest/collector|ingest/consumer|ingest/producer|ingest/spool
# Packages whose tests read PDFs and pictures within bounds of time and memory: the race detector
# takes many times more of both.
UNRACED := crud|crud/pdf|crud/picture

.PHONY: help up build install release release-number audit web web-check web-test warm engines setup setup-all test test-all check check-all unit race-way unit-long programs programs-long browser-once race lab release-test site site-serve helm-test helm-update chaos test-cluster soak upgrade bench contract clients client-tools contract-tools dbt-tools browser browser-tools duckdb-tools lint fmt generate guide font compose-env clean

help: ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 22

up: ## Build, then run everything on engines of its own, until Ctrl-C
	@# The engines and npm's packages download while the compiler works: the first start waits for the
	@# slowest only.
	@go build -o bin/lodestone-engines ./cmd/lodestone-engines
	@$(MAKE) -j4 engines web warm
	@$(MAKE) -j2 build
	@exec bin/lodestone up

build: bin/lodestone bin/lodestone-clickhouse ## Build bin/lodestone and its ClickHouse launcher

# A release has the number that its commit has in a file, unless another is given for a trial, such as 0.2.0-dev.
release release-number: export VERSION := $(if $(filter command environment,$(firstword $(origin VERSION))),$(VERSION),$(shell cat pkg/build/VERSION))
release: export COMMIT := $(COMMIT)
release: export DATE := $(DATE)
release: export TIMESTAMP := $(shell git log -1 --format=%ct 2>/dev/null)
RELEASE_DIR ?= bin/release-$(VERSION)
STAGE := .cache/release
# A page of the documentation as one of the manual: without links, and with lists in place of tables, which are too wide.
manual = sed -E '1s/.*/% lodestone $(2)/; s/\[([^]]*)\]\([^)]*\)/\1/g; s/<br>/ /g; /^\|-/d; s/^\| (.*) \|$$/- \1/; /^- /s/ \| /: /g' $(1) | $(MD2MAN) -out
release: release-number web site bin/lodestone-release $(GORELEASER) $(MD2MAN) ## Build a release: archives, packages, image, documentation, checksums of the number in pkg/build/VERSION (KEY=FILE signs, RELEASE_DIR=DIR)
	@# What archives and packages have beside the programs.
	@umask 022; share=$(STAGE)/linux/share; rm -rf $(STAGE); \
	mkdir -p $$share/{bash-completion/completions,doc/lodestone,fish/vendor_completions.d,man/man{1,5},zsh/site-functions} \
		$(STAGE)/linux/{etc/lodestone,lib/systemd/system,lib/sysusers.d} $(STAGE)/darwin; \
	$(call manual,docs/cli.md,1) $$share/man/man1/lodestone.1; \
	$(call manual,docs/configuration.md,5) $$share/man/man5/lodestone.5; \
	install -m 644 cmd/lodestone/completion/bash $$share/bash-completion/completions/lodestone; \
	install -m 644 cmd/lodestone/completion/fish $$share/fish/vendor_completions.d/lodestone.fish; \
	install -m 644 cmd/lodestone/completion/zsh $$share/zsh/site-functions/_lodestone; \
	install -m 644 LICENSE README.md CHANGELOG.md $$share/doc/lodestone; \
	cp -r $$share $(STAGE)/darwin; \
	install -m 644 deploy/systemd/*.service $(STAGE)/linux/lib/systemd/system; \
	install -m 644 deploy/systemd/sysusers.conf $(STAGE)/linux/lib/sysusers.d/lodestone.conf; \
	install -m 600 deploy/systemd/lodestone.env $(STAGE)/linux/etc/lodestone
	@# One after the other: the programs of an archive are in the order in which they were built.
	@$(GORELEASER) release --snapshot --clean --parallelism 1
	@mkdir -p '$(RELEASE_DIR)'
	@mv $(STAGE)/*.cdx.json $(STAGE)/dist/lodestone-$(VERSION)-* '$(RELEASE_DIR)'
	@bin/lodestone-release image --programs $(STAGE)/dist --out '$(RELEASE_DIR)'
	@cd '$(RELEASE_DIR)' && sums=$$(sha256sum *) && echo "$$sums" >lodestone-$(VERSION)-sha256.txt
	@$(if $(KEY),minisign -S -s '$(KEY)' -m '$(RELEASE_DIR)'/*,echo "not signed: give KEY=FILE")

# Before anything is built: whether the checkout is a commit with this number.
release-number:
	@if [[ ! '$(VERSION)' =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$$ ]]; then echo "$(VERSION) is not the number of a release, such as 0.1.0 or 0.2.0-rc.1"; exit 1; fi
	@if [[ -n "$$(git status --porcelain)" ]]; then echo "the checkout has changes that are not committed: a release is built from a commit"; exit 1; fi
	@if [[ '$(VERSION)' != *-* && '$(VERSION)' != "$$(cat pkg/build/VERSION)" ]]; then \
		echo "pkg/build/VERSION is $$(cat pkg/build/VERSION), and not $(VERSION): build that number, commit another one in the file, or build $(VERSION)-dev for a trial"; exit 1; fi
	@if [[ -n "$$(ls -A '$(RELEASE_DIR)' 2>/dev/null)" ]]; then echo "$(RELEASE_DIR) is not empty, and its files would be signed"; exit 1; fi

audit: bin/lodestone-release ## Check the licences of all dependencies, and look up known vulnerabilities where a database answers
	@bin/lodestone-release audit

# The site is built from a copy of its pages, beside which its packages are installed.
SITE_PAGES := README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md docs .vitepress
site: ## Build the site of the documentation in .cache/site, and check its links
	@mkdir -p .cache/docs && cp -r $(SITE_PAGES) .vitepress/package.json .vitepress/package-lock.json .cache/docs/
	@$(NPM_CI) --prefix .cache/docs
	@cd .cache/docs && SITE_DIR='$(CURDIR)/.cache/site' SITE_VERSION='$(patsubst v%,%,$(VERSION))' npx vitepress build

site-serve: site ## Build the site of the documentation, and serve it at 127.0.0.1:8070
	@cd .cache/docs && SITE_DIR='$(CURDIR)/.cache/site' npx vitepress preview --host 127.0.0.1 --port 8070

PREFIX ?= /usr/local
install: build ## Copy the programs to PREFIX/bin (/usr/local/bin)
	@install -d $(DESTDIR)$(PREFIX)/bin
	@install -m 755 bin/lodestone bin/lodestone-clickhouse $(DESTDIR)$(PREFIX)/bin/

# Go knows best what has changed, so the binaries are asked for each time.
.PHONY: bin/lodestone bin/lodestone-clickhouse bin/lodestone-engines bin/lodestone-lab bin/lodestone-release
bin/lodestone: web
	@go build -ldflags '-s -w -X $(BUILD).version=$(VERSION) -X $(BUILD).commit=$(COMMIT) -X $(BUILD).date=$(DATE)' -o $@ ./cmd/lodestone
bin/lodestone-clickhouse bin/lodestone-engines:
	@go build -ldflags '-s -w' -o $@ ./cmd/$(@F)

bin/lodestone-lab:
	@cd $(LAB) && go build -ldflags '-s -w' -o $(CURDIR)/$@ .

bin/lodestone-release:
	@cd $(RELEASE) && go build -ldflags '-s -w' -o $(CURDIR)/$@ .

warm: # compiles what embeds none, or little, of the front-ends
	@go build -o /dev/null ./ingest/... ./query/... ./pkg/...

web: $(WEB_BUILT) ## Build the pages' scripts and styles, if their sources changed

# Everything below a front-end's folder but its tests and what npm installed.
web_sources = $(shell find $(1)/web -name node_modules -prune -o -type f ! -path '*/test/*' -print)

.SECONDEXPANSION:
$(WEB_BUILT): %/dist/manifest.json: $$(call web_sources,$$*) | %/web/node_modules/.package-lock.json
	@echo "building $*/web"
	@npm --prefix $*/web --silent run build
	@touch $@

# The form's script has words of the catalogue.
crud/embed/dist/manifest.json: $(wildcard crud/web/text/*.json)

# npm compares each package with the lock file's hash, and runs none of their scripts.
%/node_modules/.package-lock.json: %/package-lock.json
	@command -v npm >/dev/null || { echo "npm was not found: install Node.js 20 or newer, which brings it"; exit 1; }
	@echo "installing the packages of $*"
	@$(NPM_CI) --prefix $* --omit=dev
	@touch $@

# The compiler of TypeScript checks types; esbuild only removes them.
%/node_modules/typescript/package.json: %/package-lock.json
	@echo "installing the packages of $*"
	@$(NPM_CI) --prefix $*
	@touch $@ $*/node_modules/.package-lock.json

web-check: $(WEB:%=%/web/node_modules/typescript/package.json) web
	@for part in $(WEB); do npm --prefix $$part/web --silent run check; done

web-test: web
	@for part in $(WEB); do npm --prefix $$part/web --silent test; done

engines: bin/lodestone-engines ## Download ClickHouse and PostgreSQL if they are not there yet
	@bin/lodestone-engines

setup: ## Install what `make test` needs and this machine lacks (as root, by apt-get)
	@.ci/setup
	@$(MAKE) browser-tools contract-tools duckdb-tools

setup-all: ## Install what `make test-all` needs besides
	@.ci/setup all
	@$(MAKE) dbt-tools client-tools

test: setup ## Install what is missing, then check and test what a change can break (about 12 minutes; 20 the first time)
	@ALL_SECONDS=1500 PACKAGE_SECONDS=120 .ci/groups build web-check web-test check race-way unit programs browser-once

# What a release needs: everything that `make test` does, the long forms of tests, and the parts of the repository that have modules of their own.
test-all: setup setup-all ## Check and test everything, before a release (about two hours)
	@.ci/groups build web-check web-test check-all unit-long race programs-long browser contract lab helm-test release-test site
	@git rev-parse HEAD > .cache/test-all

check: MODULES := .
check: check-all ## Check form, vet and lint of the product's module

check-all: lint ## Check form, vet and lint of all modules
	@unformatted=$$(git ls-files -z '*.go' | xargs -0 gofmt -l); \
	if [[ -n $$unformatted ]]; then echo "not formatted (make fmt fixes it):"; echo "$$unformatted"; exit 1; fi
	@# The laboratory's module has the parent as a directory, which `go mod verify` cannot check; go.sum holds for all.
	@go mod verify
	@for module in $(MODULES); do (cd $$module && go mod tidy -diff); done

lint: $(GOLANGCI) ## Run golangci-lint, with go vet among its linters
	@for module in $(MODULES); do (cd $$module && $(CURDIR)/$(GOLANGCI) run); done

$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI_VERSION) (once, about a minute)"
	@mkdir -p $(@D)
	@GOBIN=$(CURDIR)/.cache/bin GOFLAGS=-mod=mod go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv .cache/bin/golangci-lint $@

$(GORELEASER):
	@echo "building goreleaser $(GORELEASER_VERSION) (once, some minutes)"
	@mkdir -p $(@D)
	@GOBIN=$(CURDIR)/.cache/bin GOFLAGS=-mod=mod go install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)
	@mv .cache/bin/goreleaser $@

$(MD2MAN):
	@mkdir -p $(@D)
	@GOBIN=$(CURDIR)/.cache/bin GOFLAGS=-mod=mod go install github.com/cpuguy83/go-md2man/v2@$(MD2MAN_VERSION)
	@mv .cache/bin/go-md2man $@

$(GOTESTSUM):
	@mkdir -p $(@D)
	@GOBIN=$(CURDIR)/.cache/bin GOFLAGS=-mod=mod go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	@mv .cache/bin/gotestsum $@

# Groups run one after the other: engines of eight tests at a time on two cores were where most flakes came from. Tests that draw what they try draw
# the same each time here; RAPID_SEED=0 lets them try something new. A failed test runs once more, alone: .ci/groups says which passed then.
export RAPID_SEED ?= 1
unit race-way programs: export RAPID_CHECKS ?= 25
# A collector that runs less often: a quarter of what tests compute is it.
unit race-way programs: export GOGC ?= 400

# run tests packages by the arguments given, and notes in .cache/test/NAME.* what took how long.
run = mkdir -p .cache/test && $(GOTESTSUM) --format pkgname-and-test-fails --hide-summary skipped,output --jsonfile .cache/test/$(1).json \
	--rerun-fails=1 --rerun-fails-max-failures=5 --rerun-fails-run-root-test --rerun-fails-report .cache/test/$(1).flaky \
	--packages "$(2)" -- -vet=off -ldflags=-w -p 3 -exec '$(CURDIR)/.ci/meter $(CURDIR)/.cache/test/$(1).times' $(3)
OTHERS = $$(go list ./... | grep -vE '^lodestone/($(UNCACHED))(/|$$)' | tr '\n' ' ')
PROGRAMS := $(patsubst %,./%/...,$(subst |, ,$(UNCACHED)))

race-way: export CGO_ENABLED := 1
race-way: $(GOTESTSUM) # the tests of packages of the way of an event, with the race detector
	@$(call run,race-way,$(patsubst %,./%,$(subst |, ,$(WAY))),-race -timeout 20m)

unit: $(GOTESTSUM) web ## Run the tests of packages (after `make build`)
	@$(call run,unit,$$(go list ./... | grep -vE '^lodestone/(($(UNCACHED))(/|$$)|($(WAY))$$)' | tr '\n' ' '),-timeout 20m)

unit-long: $(GOTESTSUM) web ## The same with their long forms: Apache Kafka, PgBouncer, bounds of memory (about 20 minutes)
	@$(call run,unit,$(OTHERS),-tags long -timeout 60m)

programs: $(GOTESTSUM) ## Run the tests of the built programs
	@$(call run,programs,$(PROGRAMS),-count=1 -parallel 4 -timeout 30m -skip '^TestBrowser')

programs-long: $(GOTESTSUM) ## The same with their long forms
	@$(call run,programs,$(PROGRAMS),-tags long -count=1 -timeout 80m -skip '^TestBrowser')

browser-once: browser-tools # one pass of each page on a phone and at a desktop
	@$(GOTEST) -count=1 -timeout 30m -run '^TestBrowser$$' ./cmd/lodestone

race: web ## Run the tests of packages with the race detector (about 30 minutes)
	@CGO_ENABLED=1 $(GOTEST) -race -p 2 -timeout 40m $$(go list ./... | grep -vE '^lodestone/(($(UNCACHED))(/|$$)|($(UNRACED))$$)')

lab: ## Test the laboratory, which starts whole installations (about 15 minutes)
	@cd $(LAB) && $(GOTEST) -p 1 -count=1 -timeout 60m ./...

release-test: $(GORELEASER) $(MD2MAN) ## Build a release, and use it
	@cd $(RELEASE) && $(GOTEST) -count=1 -timeout 20m ./...

helm-test: ## Render the Helm chart, and check every object (the first time, Helm's packages are compiled: about a minute)
	@cd $(CHART) && $(GOTEST) -count=1 -timeout 10m ./...

helm-update: ## Rewrite the golden files of the chart, its copies of the alerts and the dashboard, the settings in its schema, and the table in docs/kubernetes.md
	@cd $(CHART) && go test -count=1 ./... -update

chaos: bin/lodestone-lab ## Break everything for half an hour under load, and count (CHAOS="--seed 7 --duration 5m")
	@bin/lodestone-lab chaos $(CHAOS)

soak: web bin/lodestone-lab ## Run an installation for two hours at 10,000 events/s; kill, back up and restore it, and erase a person meanwhile (SOAK="--duration 30m --rate 3000")
	@bin/lodestone-lab soak $(SOAK)

upgrade: web ## Upgrade an installation from the newest release and roll it back, under load (UPGRADE_FROM=v0.1.0; UPGRADE_EVENTS=50000 in each step)
	@cd $(LAB) && UPGRADE_EVENTS=$${UPGRADE_EVENTS:-20000} go test -count=1 -timeout 40m -v -run '^TestUpgradeAndRollback$$' ./upgrade

test-cluster: bin/lodestone-lab ## The same on two ClickHouse shards, with PgBouncer and two query processes (CLUSTER="--duration 10m")
	@bin/lodestone-lab chaos --cluster $(CLUSTER)

bench: build bin/lodestone-lab ## Measure everything on the embedded and on the real Kafka (BENCH="collect --only one/512")
	@bin/lodestone-lab bench $(or $(BENCH),all --kafka both)

contract: build contract-tools ## Test the API against its description at length (about ten minutes; CONTRACT_EXAMPLES=1000: an hour)
	@CONTRACT_EXAMPLES=$${CONTRACT_EXAMPLES:-150} go test -count=1 -timeout 3h -v -run '^TestContract$$' ./cmd/lodestone

# Its versions and their hashes are pinned; `pip-compile --generate-hashes requirements.in` renews them.
CONTRACT := cmd/lodestone/testdata/contract/requirements.txt
contract-tools: .cache/contract/installed
.cache/contract/installed: $(CONTRACT)
	@echo "installing schemathesis (once)"
	@rm -rf $(@D)
	@python3 -m venv $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement $(CONTRACT)
	@touch $@

# The same for dbt, in deploy/dbt: it runs the project in a test.
DBT := deploy/dbt/requirements.txt
dbt-tools: .cache/dbt/installed
.cache/dbt/installed: $(DBT)
	@echo "installing dbt (once)"
	@rm -rf $(@D)
	@python3 -m venv $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement $(DBT)
	@touch $@

clients: client-tools ## Generate the TypeScript and the Python client from the description of the API
	@cd pkg/client/typescript && npm --silent run generate && npm --silent run build
	@cd pkg/client/python && $(CURDIR)/.cache/clients/bin/python generate.py ../../../docs/endpoints/openapi.json lodestone_client

# Their generators, and what their tests need.
CLIENTS := pkg/client/python/requirements.txt
client-tools: .cache/clients/installed pkg/client/typescript/node_modules/typescript/package.json
.cache/clients/installed: $(CLIENTS)
	@echo "installing the generator of the Python client (once)"
	@rm -rf $(@D)
	@python3 -m venv $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement $(CLIENTS)
	@touch $@

browser: browser-tools ## Test the pages in Chromium, each state on every size of screen; pictures and weights go to .cache/browser (BROWSER_ONLY="landing viewer")
	@BROWSER_LOOKS=all go test -tags long -count=1 -timeout 60m -v -run '^TestBrowser(OverTLS)?$$' ./cmd/lodestone

browser-tools: cmd/lodestone/browser/node_modules/.package-lock.json

duckdb-tools: cmd/lodestone/duckdb/node_modules/.package-lock.json

fmt: $(GOLANGCI) ## Format the Go code
	@$(GOLANGCI) fmt

generate: build ## Write again what programs write
	@go generate ./...
	@go test -run 'TestConfigurationDocument|TestReferenceDocuments|TestReferenceOfTheAPI|TestAPIDocument' ./cmd/lodestone -update
	@$(MAKE) helm-update

guide: ## Print the demo's PDF from its HTML source (needs Chromium)
	@npm install --silent --no-audit --no-fund --no-save --prefix .cache/guide inter-ui@$(INTER_VERSION)
	@profile=$$(mktemp -d); trap 'rm -rf "$$profile"' EXIT; \
	chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --user-data-dir="$$profile" \
		--no-pdf-header-footer --generate-pdf-document-outline \
		--print-to-pdf=cmd/lodestone/demo/guide.pdf "file://$(CURDIR)/cmd/lodestone/demo/guide.html" 2>/dev/null # it complains about desktops

# The letters of the languages that pages are in, and their punctuation.
FONT_LETTERS := U+20-7E,U+A0-FF,U+104-107,U+118-119,U+131,U+141-144,U+152-153,U+15A-15B,U+178-17C,U+2C6,U+2DC,U+300-302,U+308,U+327,U+2009-200A,U+2010-2015,U+2018-201E,U+2022,U+2026,U+202F,U+2032-2033,U+2039-203A,U+20AC,U+2116,U+2122,U+2190-2193,U+2212,U+2215,U+2248,U+2260,U+2264-2265
font: ## Cut the typeface of the pages from Inter again (needs Python)
	@npm install --silent --no-audit --no-fund --no-save --prefix .cache/guide inter-ui@$(INTER_VERSION)
	@python3 -m venv .cache/font && .cache/font/bin/pip install --quiet --disable-pip-version-check $(FONTTOOLS)
	@SOURCE_DATE_EPOCH=0 .cache/font/bin/fonttools varLib.instancer --quiet .cache/guide/node_modules/inter-ui/variable/InterVariable.woff2 \
		wght=400:700 opsz=14 --output .cache/font/inter.ttf
	@.cache/font/bin/pyftsubset .cache/font/inter.ttf --unicodes=$(FONT_LETTERS) --layout-features=kern,mark,ccmp,locl,tnum \
		--no-hinting --no-recalc-timestamp --flavor=woff2 --output-file=pkg/asset/inter.woff2
	@cp .cache/guide/node_modules/inter-ui/LICENSE.txt pkg/asset/inter-LICENSE.txt

compose-env: ## Write .env and .secrets for docker compose, if there are none
	@deploy/compose-env

clean: ## Remove what was built; data and downloaded engines stay
	@rm -rf bin .cache pkg/client/typescript/dist pkg/client/typescript/src/schema.ts $(addprefix pkg/client/python/lodestone_client/,api models types.py)
	@for part in $(WEB); do find $$part/dist -mindepth 1 ! -name .gitkeep -delete; done
	@find $(WEB:%=%/web) -name node_modules -prune -exec rm -rf {} +
