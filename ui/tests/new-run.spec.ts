// The form for a new run, with answers that are invented.
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import type { Offer, Stored } from "../src/generated/api";
import { openApp } from "./app-alone";
import type { Answers } from "./app-alone";
import { expectToBeGood, faultsOf } from "./app-pages";

test("a platform that this machine does not have cannot be chosen, and says why", async ({ page }) => {
  const faults = faultsOf(page);
  const why = "no daemon answers at /run/docker.sock <b>";
  const offers: Offer[] = [{ name: "host", about: "a plain process" }, { name: "docker", about: "a container", missing: why }];
  const answers = {
    "/api/services": "[]",
    "/api/services/stored": "[]",
    "/api/platforms": JSON.stringify(offers),
    "/api/drafts": JSON.stringify({ name: "", yaml: "platforms: [host]\n", plan: "", seconds: [1, 2] }),
  };
  const [host, docker] = [page.getByRole("checkbox", { name: /^host/ }), page.getByRole("checkbox", { name: /^docker/ })];
  await openApp(page, "/new?on=host", answers);
  await expect(host).toBeEnabled();
  await expect(docker).toBeDisabled();
  await expect(page.getByText(`not here: ${why}`)).toBeVisible();
  await expectToBeGood(page);
  // A link may have chosen it; it can be taken away again.
  await openApp(page, "/new?on=host&on=docker", answers);
  await expect(docker).toBeChecked();
  await docker.uncheck();
  await expect(docker).toBeDisabled();
  expect(faults).toEqual([]);
});

/** What the form asks the server for, whose answers these are. */
const FORM: Answers = {
  "/api/services": `["orders"]`,
  "/api/services/stored": "[]",
  "/api/platforms": JSON.stringify([{ name: "host", about: "a plain process" }]),
  "/api/drafts": JSON.stringify({ name: "", yaml: "platforms: [host]\n", plan: "", seconds: [1, 2] }),
};

/** The drafts that a page asks for, each as it is sent. */
function draftsOf(page: Page): unknown[] {
  const asked: unknown[] = [];
  page.on("request", (request) => request.url().endsWith("/api/drafts") && asked.push(request.postDataJSON()));
  return asked;
}

test("each field of the form is a flag of the command line", async ({ page }) => {
  const asked = draftsOf(page);
  const held = {
    what: "builtin",
    on: "host",
    rate: "500/s, 700/s",
    connections: "3",
    cpu: "0.5",
    memory: "64Mi",
    deployments: "3",
    within: "10h",
    objectives: "p99 <= 20ms\np50 <= 5ms",
    failIf: "p99 slower by > 5%\ncapacity fewer by > 5%",
  };
  const flags = (...load: string[]) => [
    ...["--service", "orders", "--on", "host", ...load, "--connections", "3", "--limit-cpu", "0.5", "--limit-memory", "64Mi", "--deployments", "3"],
    ...["--within", "10h", "--objective", "p99 <= 20ms", "--objective", "p50 <= 5ms", "--fail-if", "p99 slower by > 5%", "--fail-if", "capacity fewer by > 5%"],
  ];
  await openApp(page, `/new?${new URLSearchParams(held).toString()}`, FORM);
  await expect.poll(() => asked.at(-1)).toEqual({ flags: flags("--rate", "500/s", "--rate", "700/s") });
  await openApp(page, `/new?${new URLSearchParams({ ...held, closed: "true" }).toString()}`, FORM);
  await expect.poll(() => asked.at(-1)).toEqual({ flags: flags("--closed") });
});

for (const [what, field] of [["command", "command"], ["image", "image"], ["url", "URLs"]] as const) {
  test(`the form for a service of the kind ${what} can be read and used by everybody`, async ({ page }) => {
    test.setTimeout(90_000);
    await openApp(page, `/new?what=${what}&on=host`, FORM);
    await expect(page.getByRole("textbox", { name: new RegExp(`^${field}`) })).toBeVisible();
    await expect(page.getByText(/^It takes/)).toBeVisible();
    await expectToBeGood(page);
  });
}

test("a service of a stored run is chosen by what it is called there", async ({ page }) => {
  const faults = faultsOf(page);
  const stored: Stored[] = [{ run: 12, service: "shop", about: `./shop --port {port} ${"--verbose ".repeat(30)}` }, { run: 7, service: "old <b>shop", about: "shop/orders:1.2" }];
  const asked = draftsOf(page);
  const expectAsked = (what: unknown) => expect.poll(() => asked.at(-1)).toEqual(what);
  const kind = page.getByRole("radio", { name: "service of a stored run" });
  await openApp(page, "/new?on=host", FORM);
  await expectAsked({ flags: ["--service", "orders", "--on", "host", "--rate", "2000/s"] });
  await expect(kind).toHaveCount(0);

  await openApp(page, "/new?on=host", { ...FORM, "/api/services/stored": JSON.stringify(stored) });
  await kind.check();
  const service = page.getByRole("combobox", { name: /^service/ });
  await expect(service.getByRole("option")).toHaveText([/^shop · run 12: \.\/shop --port/, "old <b>shop · run 7: shop/orders:1.2"]);
  const flags = ["--on", "host", "--rate", "2000/s"];
  await expectAsked({ stored: { run: 12, service: "shop", flags } });
  await service.selectOption("7 old <b>shop");
  await page.getByLabel(/^requests/).fill("/status");
  await expectAsked({ stored: { run: 7, service: "old <b>shop", flags: ["--request", "/status", ...flags] } });
  await expectToBeGood(page);
  await page.reload();
  await expect(service).toHaveValue("7 old <b>shop");
  // A later run may have measured the same service, which is offered as that run's then.
  await openApp(page, "/new?what=stored&stored=3+shop&on=host", { ...FORM, "/api/services/stored": JSON.stringify(stored) });
  await expect(service.getByRole("option")).toHaveCount(3);
  await expect(service).toHaveValue("3 shop");
  await expectAsked({ stored: { run: 3, service: "shop", flags } });
  // An address that leaves open which one means the latest, and nothing is asked before that is known.
  const before = asked.length;
  await openApp(page, "/new?what=stored&on=host", { ...FORM, "/api/services/stored": JSON.stringify(stored) });
  await expect(service).toHaveValue("12 shop");
  await expect.poll(() => asked.slice(before)).toEqual([{ stored: { run: 12, service: "shop", flags } }]);
  expect(faults).toEqual([]);
});

test("how long a new run takes is what the server tells", async ({ page }) => {
  const answers = { "/api/services": "[]", "/api/platforms": "[]" };
  const draft = (seconds: number[]) => JSON.stringify({ name: "", yaml: "platforms: [host]\n", plan: "12 blocks × 1.5 s", seconds });
  await openApp(page, "/new", { ...answers, "/api/drafts": draft([44.8, 181]) });
  await expect(page.getByText("It takes 45 s on a quiet machine, 3 min 1 s at most.")).toBeVisible();
  await page.getByText("What it will do").click();
  await expect(page.locator("pre.plan")).toHaveText("12 blocks × 1.5 s");
  await openApp(page, "/new", { ...answers, "/api/drafts": draft([7261, 7262]) });
  await expect(page.getByText("It takes about 2 h 1 min.")).toBeVisible();
});
