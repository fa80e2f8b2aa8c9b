# Every target sets up what it needs, and does so again only when the lockfile changed.
# Needed: make, npm and Node.js 20 or newer. Weir itself runs on the Node.js 24 that the npm package `node` brings into node_modules.

NODE := node_modules/node/bin/node --disable-warning=ExperimentalWarning
# Jest needs the flag to run tests as the ES modules they are.
JEST := $(NODE) --experimental-vm-modules node_modules/jest/bin/jest.js
BIOME := $(NODE) node_modules/@biomejs/biome/bin/biome

# Two set-ups: what Weir needs to run, and everything. With both comes the Node.js of the workspace bin/node, which the npm package does not bring.
# `npm ci` empties node_modules, so a stamp lives exactly as long as what it stands for.
RUNTIME := node_modules/.installed-runtime
EVERYTHING := node_modules/.installed-everything

BAD =
ARGS =
RESULTS =
SEED =
SEEDS = 10000
MINUTES = 2

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test unit int e2e watch check types lint dead-code schemas-check import-rules format bench simulate chaos compose-test mutate schemas package clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(RUNTIME) ## run the demo; BAD=stubborn picks one way to misbehave
	bin/weir demo $(if $(BAD),--bad $(BAD))

# Without ARGS the tiers run in this order, and the first that fails ends the run.
# RESULTS=FOLDER keeps the results of each tier there as JSON.
ifeq ($(ARGS),)
test: unit int e2e ## run all tests; ARGS="-t name" runs only the tests that jest finds for it
else
test: $(EVERYTHING)
	$(JEST) $(ARGS)
endif

unit: TIER = unit
unit: $(EVERYTHING) ## run the unit tests: they need no neighbour, no file and no process
	$(run_tier)

int: TIER = int
int: $(EVERYTHING) ## run the integration tests: one part with a real file, process, server or broker
	$(run_tier)

e2e: TIER = e2e
e2e: $(EVERYTHING) ## run the end-to-end tests: the whole of Weir, with processes killed
	$(run_tier)

run_tier = WEIR_TEST_TIER=$(TIER) $(JEST) $(if $(RESULTS),--json --outputFile=$(RESULTS)/$(TIER).json) $(ARGS)

watch: $(EVERYTHING) ## run the unit tests of the files you change, again at each change
	WEIR_TEST_TIER=unit $(JEST) --watch $(ARGS)

check: types lint dead-code schemas-check import-rules ## check types, lint, format, dead code, schema drift, import rules

types: $(EVERYTHING)
	$(NODE) node_modules/typescript/bin/tsc
	$(NODE) node_modules/typescript/bin/tsc -p apps/report/page

lint: $(EVERYTHING)
	$(BIOME) check --error-on-warnings

dead-code: $(EVERYTHING)
	$(NODE) node_modules/knip/bin/knip.js

schemas-check: $(EVERYTHING)
	$(NODE) schemas/generate.ts --check
	$(NODE) bin/generate-rules.ts --check

import-rules: $(EVERYTHING)
	$(JEST) test/import-rules.unit.test.ts

format: $(EVERYTHING) ## format, sort imports, apply the safe lint fixes
	$(BIOME) check --write

bench: $(EVERYTHING) ## run the benchmark
	$(NODE) test/bench/main.ts

simulate: $(EVERYTHING) ## run the simulator over SEEDS=10000 seeds, or over the one SEED=
	$(NODE) test/simulation/main.ts $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))

chaos: $(EVERYTHING) ## kill, stop and rebalance a fleet on a real broker for MINUTES=2, then check its records; SEED= plays one again
	$(NODE) test/chaos/main.ts --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

mutate: $(EVERYTHING) ## move each threshold of the loop-detector by one and take away each mask, and see whether its tests notice; some minutes, PART=2/6 for a part
	$(NODE) test/mutation/main.ts $(PART)

compose-test: $(EVERYTHING) ## bring docker-compose.yml up for real, scale it, play the demo over it; needs Docker and some minutes
	$(NODE) test/compose/main.ts

schemas: $(EVERYTHING) ## write the files that are generated from schemas and rules
	$(NODE) schemas/generate.ts
	$(NODE) bin/generate-rules.ts

package: $(EVERYTHING) ## make the npm package in out/
	@mkdir -p out
	npm pack --loglevel=error --pack-destination out

clean: ## remove what the other targets installed and made
	rm -rf node_modules dist out

# Engine warnings are about the Node that runs npm, and Weir does not run on that one; hence only errors are shown.
define install
@command -v npm >/dev/null && command -v node >/dev/null || \
	{ echo 'Weir needs Node.js 20 or newer with npm to set itself up: install it from https://nodejs.org and run this again.' >&2; exit 1; }
@node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' || \
	{ echo "Weir needs Node.js 20 or newer to set itself up, and this is $$(node --version)." >&2; exit 1; }
endef

$(RUNTIME): package-lock.json
	$(install)
	npm ci --omit=dev --loglevel=error
	@touch $@

$(EVERYTHING): package-lock.json
	$(install)
	npm ci --loglevel=error
	@touch $(RUNTIME) $@
