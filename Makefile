# run: the main job · test: whether everything works, as root · lint: what CI holds the code to
# prove: whether the figures are right, at length, as root on a machine with nothing else to do; writes docs/proof.md
# fuzz: FUZZ_SECONDS on each of FUZZERS · test-vm: on Debian's kernel, for what this machine's lacks (tests/vm/README.md); both are part of prove
# test-ui: whether the HTML report's app is what ui/src gives, and does in Chromium what it should; part of test
# bench: loadline beside other load generators, on a machine with nothing else to do
# services: the reference services of the published benchmarks, all of them or SERVICES (services/README.md)
# docs: the book in docs/, rendered into target/book
# cluster · cluster-down: a real Kubernetes of two nodes on this machine (tests/cluster/README.md)
# cni: builds the agents of the CNIs that `tests/cluster/up NAME --cni CNI` can use
.PHONY: run build dist test test-services test-ui prove test-vm lint fuzz bench services docs cluster cluster-down cni tools-run tools-test tools-fuzz tools-prove tools-vm tools-lint tools-cluster tools-services tools-ui tools-docs advisories

CARGO ?= cargo
FUZZ_SECONDS ?= 60
FUZZERS ?= response http2 performance_data go_program
TARGET := $(or $(CARGO_TARGET_DIR),target)
# .cargo/config.toml names the target, so that programs can be static; cargo then builds below its name.
RELEASE := $(TARGET)/$(shell rustc --print host-tuple)/release
# --quick, --only PART, --rounds N
BENCH ?=
TESTS ?=
PROVE ?=
SERVICES ?=
TESTED_SERVICES ?= go-net-http javalin node django nginx

# A run that is not to be trusted (3) says so itself: make has nothing to add to its report.
run: tools-run build
	$(RELEASE)/loadline run examples/host-vs-pod.yaml || [ $$? -eq 3 ]

build:
	$(CARGO) build --release --locked -p loadline

# For handing it to others: optimised throughout, which takes more than twice as long.
dist: tools-run
	$(CARGO) build --profile dist --locked -p loadline

# TESTS: what `cargo nextest run` takes, as for example "-p loadline kill"
test: tools-test tools-cluster
	tests/run $(TESTS)
	$(CARGO) test --locked --workspace --doc
	$(if $(TESTS),,$(MAKE) test-services test-ui)

# One service of each language against their contract, as processes and as containers. All of them, and in pods: make prove.
test-services: tools-services tools-test
	services/build --loadline $(TARGET)/$(shell rustc --print host-tuple)/debug/loadline $(TESTED_SERVICES)
	tests/services $(TESTED_SERVICES)
	tests/services --on docker $(TESTED_SERVICES)

# The page of a short run and of invented results, in Debian's Chromium.
test-ui: tools-ui
	$(CARGO) build --locked -p loadline
	ui/test --loadline $(abspath $(TARGET))/$(shell rustc --print host-tuple)/debug/loadline

# PROVE: --only simulations|histories|planted|controls|stalling|pauses|same-service|capacity|misbehaving|fail-if|services|soak|fuzz|vm|cni, --ladders N, --fuzz-seconds N
prove: tools-test tools-cluster tools-services tools-prove tools-vm build
	tests/prove $(PROVE) $(RELEASE)/loadline

# Three machines emulated in software, one after the other: two minutes.
test-vm: tools-vm build
	tests/vm/ladder $(RELEASE)/loadline

lint: tools-lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) deny --locked check licenses bans sources

fuzz: tools-fuzz
	for target in $(FUZZERS); do \
		(cd crates/*/fuzz/seeds/$$target/../../.. && mkdir -p fuzz/corpus/$$target && \
		$(CARGO) fuzz run --sanitizer none $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
		-max_total_time=$(FUZZ_SECONDS) -max_len=4096) || exit 1; \
	done

bench: tools-run build
	$(CARGO) build --release --locked -p loadline-bench
	bench/install-peers $(TARGET)/peers
	$(CARGO) bench --locked -p loadline-engine --bench record
	$(RELEASE)/loadline-bench --peers $(TARGET)/peers --criterion $(TARGET)/criterion --output bench/RESULTS.md $(BENCH)

# SERVICES: folders of services/ with a service.toml, as for example "quarkus go-fiber"
services: tools-services build
	services/build --loadline $(RELEASE)/loadline $(SERVICES)

docs: tools-docs
	mdbook build docs

# POD_NETWORK=routed|vxlan, PROXY_MODE=iptables|nftables
cluster: tools-cluster
	tests/cluster/up

cluster-down:
	tests/cluster/down

cni: tools-cluster
	for agent in tests/cluster/cni/*; do $$agent build || exit 1; done

advisories: tools-lint
	$(CARGO) deny --locked check advisories

tools-run:
	tests/install-tools ip nft iptables cc

tools-test:
	tests/install-tools ip nft iptables cc python3 setpriv unshare nsenter prlimit wrk nginx haproxy envoy caddy openssl strace perf \
		dockerd docker docker-proxy ctr podman /usr/lib/cni/bridge java javac jlink node \
		curl jq hdrhistogram cargo-nextest

tools-fuzz:
	tests/install-tools cargo-fuzz

tools-prove: tools-fuzz tools-cluster
	tests/install-tools bpftool

tools-vm:
	tests/install-tools qemu-system-x86_64 busybox ip nft iptables wg modprobe cpio setpriv flock python3

tools-cluster:
	tests/install-tools ip nft iptables cc openssl unshare nsenter flock setsid modprobe containerd runc /usr/lib/cni/bridge etcd nfacct

tools-lint:
	tests/install-tools cc cargo-deny

# JDKs, Go and Node.js are not among them: services/build says which it misses.
tools-services:
	tests/install-tools python3 /usr/bin/pip3 mvn nginx setpriv

tools-ui:
	tests/install-tools ip nft iptables cc node npm chromium

tools-docs:
	tests/install-tools cc mdbook
