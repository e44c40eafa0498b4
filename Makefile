# The few commands a person types. Each works alone on a fresh Debian 12 or 13; a second run is quick.
.DEFAULT_GOAL := help
.PHONY: help setup build demo test fast bench format tidy clean

help:  ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 16

setup:  ## install what is missing: Debian packages, then a Python environment in .venv
	@tools/bootstrap

build: setup  ## compile, and install the package trnsim into .venv
	@tools/build $(CMAKE_FLAGS)

demo: build  ## run a matrix product and write its timeline to build/matmul.pftrace
	@.venv/bin/trnsim run --trace build/matmul.pftrace examples/01_matmul/matmul.py

test: setup  ## build and run every test
	@tools/build -DTRNSIM_TESTS=ON $(CMAKE_FLAGS)
	@.venv/bin/python tools/run_tests.py

fast: setup  ## the tests that take under a minute
	@tools/build -DTRNSIM_TESTS=ON $(CMAKE_FLAGS)
	@.venv/bin/python tools/run_tests.py --fast

bench: setup  ## build and run the benchmarks
	@tools/build -DTRNSIM_BENCH=ON $(CMAKE_FLAGS)
	@cmake --build build/python --target run_benchmarks

format:  ## lay out the C++ sources with clang-format-19
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

tidy: setup  ## clang-tidy over the C++ sources
	@tools/bootstrap clang-tidy-19
	@cmake --workflow --preset tidy

clean:  ## remove everything built; .venv stays
	@rm -rf build
