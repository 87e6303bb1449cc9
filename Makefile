# A thin front of CMake's presets (CMakePresets.json); every build lives in build/PRESET.

PRESETS := release debug single fast

# Of install and uninstall. DESTDIR is honoured, too.
PREFIX ?= /usr/local
PRESET ?= release

# A bare machine is told, or given, what it needs; one that can build is left alone.
TOOLS := { command -v cmake && command -v ninja && command -v cc; } >/dev/null || scripts/setup

.DEFAULT_GOAL := build
.PHONY: build $(PRESETS) demo test asan tsan bench validate docs format style clean help install uninstall deb fuzz soak

build: release

# `make debug` and so on: configure and build that preset.
$(PRESETS):
	@$(TOOLS)
	@cmake --preset $@
	@cmake --build --preset $@

# The picture and the film need Embree, libpng and ffmpeg; without them the rest is there all the same.
demo:
	@echo "make demo: up to eight minutes on two cores; on a bare system it downloads 234 MB of packages (0.9 GB installed)"
	@scripts/setup
	@cmake --preset release
	@cmake --build --preset release --target talus_command
	build/release/talus run pour -o demo.out --force
	-build/release/talus render demo.out -o demo.out/pour.png --time 1.95
	-build/release/talus render demo.out -o demo.out/pour.mp4 --size 640x360 --samples 6
	@echo
	@echo "Done. What to look at:"
	@if [ -e demo.out/pour.mp4 ]; then echo "  demo.out/pour.mp4           the film"; fi
	@if [ -e demo.out/pour.png ]; then echo "  demo.out/pour.png           a picture"; fi
	@echo "  demo.out/frames.hdf.series  the frames: open it in ParaView"
	@echo "  demo.out/history.csv        energies, contacts, residuals and times, for any plotting tool"
	@echo "  demo.out/scene.yaml         the scene, with all defaults filled in"
	@echo "  build/release/talus info demo.out                 a summary"
	@echo "  build/release/talus info demo.out --plot energy   a curve, here in the terminal"

test:
	@echo "make test: about twenty minutes on two cores, about 7 GB of disk (build/); on a bare system it downloads 302 MB of packages (1.2 GB installed); JOBS=1 for one core"
	@scripts/setup test
	@scripts/run-tests release single core asan-ubsan fuzz

asan:
	@scripts/run-tests asan-ubsan

tsan:
	@scripts/setup tsan
	@scripts/run-tests tsan

# Configures only where that was never done, so that `sudo make install` after `make` builds nothing.
install:
	@$(TOOLS)
	@[ -f build/$(PRESET)/build.ninja ] || cmake --preset $(PRESET)
	@cmake --build --preset $(PRESET) --target talus_installed
	@cmake --install build/$(PRESET) --prefix "$(PREFIX)"
	@if [ "$$(id -u)" = 0 ] && [ -z "$(DESTDIR)" ]; then ldconfig 2>/dev/null || true; fi
	@echo "Installed below $(PREFIX): bin/talus, the libraries, man pages; docs/install.md says how to link"

uninstall:
	@cmake -DRECORDS=build/$(PRESET)/installed -DPREFIX="$(PREFIX)" -P cmake/uninstall.cmake

# FUZZ_SECONDS=3600 TARGETS=scene for a longer search in one place.
fuzz:
	@scripts/setup fuzz
	@cmake --preset fuzz
	@cmake --build --preset fuzz
	@scripts/run-fuzz $(or $(FUZZ_SECONDS),60) $(TARGETS)

# Half an hour: SEEDS=100 for fewer random scenes, SOAK_SECONDS=60 and STORM_SECONDS=60 for shorter parts.
soak:
	@$(TOOLS)
	@SOAK_SECONDS=$(or $(SOAK_SECONDS),600) scripts/run-soak $(or $(SEEDS),1000)
	@scripts/storm --seconds $(or $(STORM_SECONDS),600)

deb:
	@scripts/setup deb
	@cmake --preset deb
	@cmake --build --preset deb
	@cd build/deb && cpack -G DEB
	@echo "Install with: sudo apt install ./build/deb/*.deb"

# A build of its own, with the other libraries' programs that `talus bench broad` and `ccp` measure
# beside ours where their packages are installed: scripts/setup bench.
bench:
	@cmake --preset bench
	@cmake --build --preset bench
	build/bench/talus bench

# Published and analytic cases, the slow statistical ones too: one and a half hours on two cores.
# After an interruption: make validate RESUME=1.
validate: release
	build/release/talus bench validation --slow $(if $(RESUME),--resume) --write docs/validation.md

# What is generated and committed: a test says when it is old.
docs: release
	scripts/api-reference > docs/api.md.new && mv docs/api.md.new docs/api.md
	build/release/talus scenes --schema > docs/scene.md.new && mv docs/scene.md.new docs/scene.md

format:
	@find include src cli bench tests examples -name '*.[ch]' -exec clang-format -i {} +

style:
	@scripts/check-style

clean:
	rm -rf build demo.out

help:
	@echo "make            build the library and the command: build/release/talus"
	@echo "make demo       install what is missing, build, pour thousands of spheres into a box, film it"
	@echo "make test       install what is missing, build and test: double, single, sanitizers"
	@echo "make debug      build with assertions and without optimisation"
	@echo "make single     build libtalus-single and talus-single"
	@echo "make fast       build with -O3 -march=native; results may differ"
	@echo "make asan       build and test with the address and undefined-behaviour sanitizers"
	@echo "make tsan       build and test with clang's thread sanitizer"
	@echo "make install    PREFIX=/usr/local (default): command, libraries, headers, man pages, completions"
	@echo "make uninstall  PREFIX=...: removes what was installed there, and nothing else"
	@echo "make deb        Debian packages: talus, libtalus0, libtalus-dev"
	@echo "make fuzz       60 s of libFuzzer on each target: scenes, files, folders, commands, calls (docs/fuzzing.md)"
	@echo "make soak       half an hour: every block of memory refused, steps of a million bodies stopped; 1,000 random scenes, every method: no step makes energy; every built-in scene to its end; then runs that are killed, fail and lack memory (scripts/storm)"
	@echo "make bench      re-measure the published tables"
	@echo "make validate   published and analytic cases, one and a half hours: docs/validation.md; RESUME=1 goes on"
	@echo "make docs       write docs/api.md and docs/scene.md anew"
	@echo "make format     clang-format over the sources"
	@echo "make style      check format, file sizes and leftovers"
	@echo "make clean      remove build/ and demo.out/"
