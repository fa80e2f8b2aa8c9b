# Every target installs its dependencies, and again only when the lockfile has changed.
# You need make, npm and Node.js 20 or newer. Weir itself runs on Node.js 26, from the npm package of
# your platform. The lockfile has its checksum.

NODE := node_modules/.bin/node --disable-warning=ExperimentalWarning
JEST := $(NODE) node_modules/jest/bin/jest.js
BIOME := $(NODE) node_modules/@biomejs/biome/bin/biome

# Two installations: the runtime dependencies, and everything. Both include the Node.js of the
# workspace bin/node, which is not in the npm package. `npm ci` empties node_modules, and the stamp
# with it.
RUNTIME := node_modules/.installed-runtime
EVERYTHING := node_modules/.installed-everything

BAD =
ARGS =
RESULTS =
SEED =
SEEDS = 10000
MINUTES = 2
ONLY =
WRITE =
TAG =
IMAGE =
OPTIONAL =
BASE = /

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-busy unit int e2e watch check types lint dead-code schemas-check import-rules format bench simulate chaos fuzz hosts parity compare compose-test check-deploy mutate schemas package package-test image-test docs version release-files release-dry clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(RUNTIME) ## run the demo; BAD=stubborn picks one way to misbehave
	bin/weir demo $(if $(BAD),--bad $(BAD))

# Without ARGS the tiers run together, also after a failure, and a table ends the run.
# RESULTS=FOLDER stores the row of each tier there as JSON.
test: $(EVERYTHING) ## run all tests; ARGS="-t name" passes arguments to jest
	$(NODE) test/run/main.ts $(if $(RESULTS),--results $(RESULTS)) $(ARGS)

test-busy: $(EVERYTHING) ## run all tests next to 16 busy processes, which no test may notice; takes an hour on two cores
	$(NODE) test/run/main.ts --busy 16 $(ARGS)

unit: TIER = unit
unit: $(EVERYTHING) ## run the unit tests: no other stage, file or process
	$(run_tier)

int: TIER = int
int: $(EVERYTHING) ## run the integration tests: one part with a real file, process, server or broker
	$(run_tier)

e2e: TIER = e2e
e2e: $(EVERYTHING) ## run the end-to-end tests: all of Weir, with killed processes
	$(run_tier)

run_tier = WEIR_TEST_TIER=$(TIER) $(JEST) $(ARGS)

watch: $(EVERYTHING) ## run the unit tests of changed files, after every change
	WEIR_TEST_TIER=unit $(JEST) --watch $(ARGS)

check: types lint dead-code schemas-check import-rules ## check types, lint, format, dead code, schema drift, import rules

types: $(EVERYTHING)
	$(NODE) node_modules/typescript/bin/tsc --incremental --tsBuildInfoFile node_modules/.types.tsbuildinfo
	$(NODE) node_modules/typescript/bin/tsc -p apps/report/page
	$(NODE) node_modules/typescript/bin/tsc -p apps/replay/page
	$(NODE) node_modules/typescript/bin/tsc -p apps/http/console/page

lint: $(EVERYTHING)
	$(BIOME) check --error-on-warnings

dead-code: $(EVERYTHING)
	$(NODE) node_modules/knip/bin/knip.js

schemas-check: $(EVERYTHING)
	$(NODE) schemas/generate.ts --check
	$(NODE) bin/generate-rules.ts --check
	$(NODE) bin/generate-reference.ts --check
	$(NODE) bin/generate-plugins.ts --check

import-rules: $(EVERYTHING)
	$(JEST) test/import-rules.unit.test.ts

format: $(EVERYTHING) ## format, sort imports, apply the safe lint fixes
	$(BIOME) check --write

bench: $(EVERYTHING) ## run all benchmarks, or ONLY="library" one of them
	$(NODE) test/bench/main.ts $(if $(ONLY),--only "$(ONLY)")

simulate: $(EVERYTHING) ## run the simulator over SEEDS=10000 seeds, or over one SEED=
	$(NODE) test/simulation/main.ts $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))

chaos: $(EVERYTHING) ## kill, stop and rebalance a fleet on a real broker for MINUTES=2, then check its records; SEED= repeats a run, SIGNED=1 signs and encrypts records and gives each job its own user, UPGRADE=1 begins with the former version and upgrades it in the middle, SMALL=1 starts a small fleet
	$(NODE) test/chaos/main.ts --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(SIGNED),--signed) $(if $(UPGRADE),--upgrade) $(if $(SMALL),--small)

fuzz: $(EVERYTHING) ## try the parsers with changed inputs of test/fuzz/corpus for MINUTES=2; SEED= repeats a run, ONLY= selects parsers
	$(NODE) test/fuzz/main.ts --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only "$(ONLY)")

hosts: $(EVERYTHING) ## run twenty agents of other makers against Weir (an hour); installs each once (5 GB together), ONLY= selects cases, WRITE=1 keeps the results
	$(NODE) test/hosts/main.ts $(if $(ONLY),--only "$(ONLY)") $(if $(WRITE),--write)

parity: $(EVERYTHING) ## show every trace of the corpora in every way to guard an agent, and compare with weir judge; takes minutes
	WEIR_TEST_PARITY=all $(JEST) test/parity

compare: $(EVERYTHING) ## run the programs of test/examples/compare, also Mastra's, whose packages it installs once (140 MB)
	WEIR_TEST_COMPARE=all $(JEST) test/examples/compare

mutate: $(EVERYTHING) ## change each threshold and mask of the loop-detector, and check that its tests fail; takes minutes, PART=2/6 runs a part
	$(NODE) test/mutation/main.ts $(PART)

compose-test: $(EVERYTHING) ## start docker-compose.yml, scale it and run the demo on it; needs Docker and some minutes, SIGNED=1 with one user for each service and signed records
	$(NODE) test/compose/main.ts $(if $(SIGNED),--signed)

check-deploy: $(EVERYTHING) ## check deploy/chart without a cluster; needs Go, which builds helm, kubeconform and kube-score once, WRITE=1 writes the golden renders again
	$(NODE) test/deploy/main.ts $(if $(WRITE),--write)

schemas: $(EVERYTHING) ## generate files from schemas and rules
	$(NODE) schemas/generate.ts
	$(NODE) bin/generate-rules.ts
	$(NODE) bin/generate-reference.ts
	$(NODE) bin/generate-plugins.ts

package: $(EVERYTHING) ## make the npm package in out/, with its bill of materials (CycloneDX)
	$(NODE) bin/build.ts out

package-test: package ## install the package in empty folders, and run it on Node.js 22.18, 24 and 26
	$(NODE) test/release/package.ts

image-test: $(EVERYTHING) ## build the image and run its demo; needs Docker
	$(NODE) test/release/image.ts $(OPTIONAL)

docs: $(EVERYTHING) ## make the site in out/site: README.md and docs/ as pages with search, without a network; BASE=/weir/ is the path of the site at its host
	$(NODE) node_modules/vitepress/bin/vitepress.js build docs --base $(BASE)

version: $(EVERYTHING) ## raise the version by the changes in .changeset, and move their texts into CHANGELOG.md
	$(NODE) bin/version.ts
	npm install --package-lock-only --ignore-scripts --loglevel=error

release-files: package docs ## make the files of a release in out/release; TAG=v1.2.3 must be the version, IMAGE= is the image of the chart
	$(NODE) bin/release.ts $(if $(TAG),--tag $(TAG)) $(if $(IMAGE),--image $(IMAGE))

# Without a tag it names the parts that this machine cannot make. With a tag it needs Docker and Go.
release-dry: OPTIONAL = $(if $(TAG),,--optional)
release-dry: package-test image-test release-files ## do all of a release except the pushes, and list its files

clean: ## remove all installed and generated files
	rm -rf node_modules dist out

# npm shows only errors. Its engine warnings concern the Node that runs npm, not the one that runs Weir.
define install
@command -v npm >/dev/null && command -v node >/dev/null || \
	{ echo 'Weir needs Node.js 20 or newer with npm to set itself up: install it from https://nodejs.org and run this again.' >&2; exit 1; }
@node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' || \
	{ echo "Weir needs Node.js 20 or newer to set itself up, and this is $$(node --version)." >&2; exit 1; }
endef

# On a platform without such a package, the Node.js on the path takes its place.
define link_node
@[ -x node_modules/.bin/node ] || ln -s "$$(command -v node)" node_modules/.bin/node
@node_modules/.bin/node -e 'process.exit(process.features.typescript ? 0 : 1)' || \
	{ echo "Weir needs Node.js 22.18 or newer, and no package has one for this platform. Install it from https://nodejs.org and run make clean." >&2; exit 1; }
endef

$(RUNTIME): package-lock.json
	$(install)
	npm ci --omit=dev --loglevel=error
	$(link_node)
	@touch $@

$(EVERYTHING): package-lock.json
	$(install)
	npm ci --loglevel=error
	$(link_node)
	@touch $(RUNTIME) $@
