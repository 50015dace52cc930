# The two commands: `make lab` and `make test`. `make help` lists the rest.

PYTHON ?= python3
VENV ?= .venv
# Installed only where the environment has no torch of its own.
TORCH ?= torch==2.13.0
ARGS ?=

BIN := $(abspath $(VENV))/bin
export PATH := $(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The front end is built by its own rule.
export SKIP_JUPYTER_BUILDER := 1

ENVIRONMENT = $(PYTHON) .make/environment.py --torch "$(TORCH)" $(VENV)
FRONTEND := $(shell find src style jupyterlab_t9kjob/schema -type f) package.json tsconfig.json
PACKAGE := $(shell find jupyterlab_t9kjob -type f -not -path '*/labextension/*' -not -name '*.pyc' \
	-not -name '*.mo' -not -path '*/LC_MESSAGES/*.json')
TRANSLATIONS := $(wildcard jupyterlab_t9kjob/locale/*/LC_MESSAGES/*.po)
LABEXTENSION := jupyterlab_t9kjob/labextension/package.json
WHEEL := build/dist/.built

.DELETE_ON_ERROR:
.PHONY: lab install test ready lint format api catalogue docs build bench ui-envs oldest-client clean help

lab: $(VENV)/.t9kjob-installed ## Start JupyterLab on the examples (ARGS=… are JupyterLab's, VENV=… an environment to use)
	@$(BIN)/python .make/lab.py examples $(ARGS)

install: $(VENV)/.t9kjob-installed ## Install into the environment what `make lab` starts

test: $(VENV)/bin/python ## Run every check and test (ONLY="pytest jest" runs some, cluster and cluster-alone are two, ARGS=… are passed on)
	@$(BIN)/python .make/test.py --only "$(ONLY)" -- $(ARGS)

# What the checks need in the checkout: one core installs while the other compiles.
ready: $(VENV)/.t9kjob-dev node_modules/.yarn-state.yml tests/ui/node_modules/.yarn-state.yml

lint: ## Run the linters and type checkers
	@$(MAKE) --no-print-directory test ONLY="ruff format mypy imports eslint tsc types"

format: $(VENV)/.t9kjob-dev node_modules/.yarn-state.yml ## Mend what the linters can mend
	ruff check --fix-only --quiet .
	ruff format --quiet .
	jlpm lint

api: $(VENV)/.t9kjob-dev node_modules/.yarn-state.yml ## Write the OpenAPI file and, from it, the TypeScript types and constants
	python -m jupyterlab_t9kjob.openapi
	jlpm types
	python .make/constants.py

catalogue: $(VENV)/.t9kjob-dev ## Collect all messages for translators into build/jupyterlab_t9kjob.pot and the translations
	python .make/catalogue.py template build/jupyterlab_t9kjob.pot
	python .make/catalogue.py update

docs: $(VENV)/.t9kjob-docs ## Build the documentation into build/docs
	sphinx-build -E -a -W --keep-going -q -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

build: $(WHEEL) ## Build the wheel
	@ls build/dist/*.whl

bench: $(VENV)/.t9kjob-installed ## Measure against bare torchrun, a lab without the extension, a plain page
	python -m pip install --quiet playwright
	python tests/bench/submission.py
	python tests/bench/startup.py
	python tests/bench/scrolling.py
	python tests/bench/scrolling.py --load
	python tests/bench/flooding.py
	python tests/bench/flooding.py --load
	python tests/bench/listing.py
	python tests/bench/options.py
	python tests/bench/form.py
	python tests/bench/stacks.py
	python tests/bench/logs.py
	python tests/bench/first_chart.py
	python tests/bench/recorder.py
	python -m tests.bench.experiments
	python -m tests.bench.many_runs
	python -m tests.bench.large_file
	python tests/bench/runs_table.py
	@if [ -n "$$KUBECONFIG" ]; then set -x; for bench in changes idle cluster_logs command_line sockets sidebar replicas; do python tests/bench/$$bench.py; done; fi

clean: ## Remove what was built; the environment and node_modules stay
	rm -rf build lib jupyterlab_t9kjob/labextension
	find . -name __pycache__ -not -path './.venv/*' -not -path './node_modules/*' -prune -exec rm -rf {} +

help:
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' Makefile | expand -t 16

# -- the environment -------------------------------------------------------------------------------------------------

$(VENV)/bin/python:
	@$(ENVIRONMENT)

$(VENV)/.t9kjob-lab: pyproject.toml .make/environment.py
	@$(ENVIRONMENT) examples,kubernetes,stacks,build
	@touch $@

THIRD_PARTY := tests/third_party_engine/pyproject.toml $(wildcard tests/third_party_engine/t9kjob_simple_processes/*.py)

$(VENV)/.t9kjob-dev: $(VENV)/.t9kjob-lab tests/third_party_engine/pyproject.toml
	@$(ENVIRONMENT) dev
	@touch $@

$(VENV)/.t9kjob-docs: $(VENV)/.t9kjob-lab
	@$(ENVIRONMENT) docs
	@touch $@

# -- the front end ---------------------------------------------------------------------------------------------------

node_modules/.yarn-state.yml: package.json yarn.lock .yarnrc.yml | $(VENV)/.t9kjob-lab
	jlpm install --immutable
	@touch $@

tests/ui/node_modules/.yarn-state.yml: tests/ui/package.json tests/ui/yarn.lock .yarnrc.yml | $(VENV)/.t9kjob-lab
	cd tests/ui && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 jlpm install --immutable
	@touch $@

$(LABEXTENSION): $(FRONTEND) node_modules/.yarn-state.yml
	jlpm build:prod

# A copy of the built front end goes into the environment; the Python code stays linked.
$(VENV)/.t9kjob-installed: $(LABEXTENSION) $(TRANSLATIONS) $(VENV)/.t9kjob-lab
	python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# -- the wheel, and environments that have only the wheel ------------------------------------------------------------

$(WHEEL): $(LABEXTENSION) $(PACKAGE) pyproject.toml hatch_build.py .make/catalogue.py README.md LICENSE
	rm -rf build/dist
	python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/dist .
	@touch $@

ui-envs: build/lab-newest/.t9kjob build/lab-4.2/.t9kjob build/kernels/share/jupyter/kernels/python3/kernel.json

# Most of what they need is here already, and is linked from here; pip installs the rest, and sees that nothing is
# missing. A lab that was not copied to its end is made anew. The newest one also runs behind a JupyterHub, whose proxy
# is from tests/ui/package.json.
SITE = $$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
NEEDED := jupyterlab "jupyterlab_t9kjob[tensorboard,kubernetes]" --without jupyterlab_t9kjob
build/lab-newest/.t9kjob: LAB := --upgrade jupyterlab "jupyterhub>=5" jupyterlab-language-pack-zh-CN
build/lab-4.2/.t9kjob: LAB := "jupyterlab==4.2.*"
build/lab-4.2/.t9kjob: NEEDED += jupyterlab jupyter-builder
build/lab-%/.t9kjob: INTO = python -m pip --python $(@D)/bin/python install --quiet --no-compile
build/lab-%/.t9kjob: $(WHEEL) build/third-party/.built Makefile .make/copied.py
	test ! -e $(@D)/.copied || $(INTO) --no-deps --force-reinstall build/dist/*.whl build/third-party/*.whl
	test -e $(@D)/.copied || { rm -rf $(@D) && python -m venv --without-pip $(@D) \
		&& python .make/copied.py "$(SITE)" $(@D) $(NEEDED) && touch $(@D)/.copied; }
	$(INTO) $(LAB) "$$(ls build/dist/*.whl)[tensorboard,kubernetes]" build/third-party/*.whl
	@touch $@

# The lowest client that pyproject.toml allows, for tests/kubernetes/test_oldest_client.py. It takes its other dependencies from
# this environment, so that little is downloaded.
oldest-client: build/oldest-client/.made

build/oldest-client/.made: pyproject.toml | $(VENV)/.t9kjob-dev
	rm -rf $(@D)
	python -m pip install --quiet --no-compile --no-deps --retries 10 --timeout 60 --target $(@D) \
		"kubernetes==$$(sed -nE 's/.*"kubernetes>=([0-9]+).*/\1/p' pyproject.toml).*" "urllib3<2" google-auth pyasn1 pyasn1-modules
	@touch $@

build/third-party/.built: $(THIRD_PARTY)
	rm -rf build/third-party
	python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/third-party ./tests/third_party_engine
	@touch $@

# Those have no torch; their kernel is this environment's.
build/kernels/share/jupyter/kernels/python3/kernel.json: $(VENV)/.t9kjob-lab
	$(BIN)/python -m ipykernel install --prefix build/kernels --name python3
