# run: the main job · test: everything · lint: what CI holds the code to · fuzz: one minute on the response parser
.PHONY: run build test lint fuzz tools-run tools-test tools-lint advisories

CARGO ?= cargo
FUZZ_SECONDS ?= 60

run: tools-run build
	./target/release/loadline run examples/host-vs-pod.yaml

build:
	$(CARGO) build --release --locked -p loadline

test: tools-test
	$(CARGO) test --locked --workspace
	$(MAKE) fuzz

lint: tools-lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) deny --locked check licenses bans sources

fuzz: tools-test
	mkdir -p crates/engine/fuzz/corpus/response
	cd crates/engine && $(CARGO) fuzz run --sanitizer none response fuzz/corpus/response fuzz/seeds/response -- \
		-max_total_time=$(FUZZ_SECONDS) -max_len=4096

advisories: tools-lint
	$(CARGO) deny --locked check advisories

tools-run:
	tests/install-tools ip nft iptables cc

tools-test:
	tests/install-tools ip nft iptables cc python3 setpriv wrk nginx openssl hdrhistogram cargo-fuzz

tools-lint:
	tests/install-tools cc cargo-deny
