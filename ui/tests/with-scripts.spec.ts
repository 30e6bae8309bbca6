// A page opened from disk with scripts on: what the app adds, by pointer and by keyboard, and that nothing hostile runs.
import { readFileSync, statSync } from "node:fs";
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";
import { loadName } from "../src/cells";
import { read } from "../src/data";
import type { Cell } from "../src/generated/result";
import { MEASURED, PAGES, WIDTHS, expectToFit, file, open, resultOf } from "./pages";
import { coloursOf } from "./pixels";

for (const name of PAGES) {
  test(`${name} opens without a fault and fits at both widths`, async ({ page }) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const faults = await open(page, name);
      await expectToFit(page);
      expect(faults).toEqual([]);
    }
  });
}

test("charts are drawn of what a run has, and only of that", async ({ page }) => {
  await open(page, "slower");
  for (const id of ["percentiles", "slices", "probes", "heat-map"]) {
    await expect(page.locator(`#${id} h2`)).toBeVisible();
  }
  await expect(page.locator("#percentiles canvas, #slices canvas")).toHaveCount(2);
  await expect(page.locator("#heat-map canvas")).toHaveCount(resultOf("slower").cells.length);
  for (const id of ["capacity-curves", "sweep", "flame-graphs"]) await expect(page.locator(`#${id}`)).toBeHidden();
  await open(page, "capacities");
  await expect(page.locator("#capacity-curves path.curve")).toHaveCount(2);
  await open(page, "platforms");
  const platforms = new Set(resultOf("platforms").cells.filter(({ role }) => role !== "twin").map(({ label }) => label));
  await expect(page.locator("#sweep path.thin")).toHaveCount(platforms.size);
  await open(page, "limits");
  const sweeps = resultOf("limits").sweeps ?? [];
  await expect(page.locator("#sweep h2")).toHaveText("By CPU limit");
  await expect(page.locator("#sweep path.thin")).toHaveCount(sweeps.length);
  await expect(page.locator("#sweep g > path:not(.thin)")).toHaveCount(sweeps.flatMap(({ points }) => points).length);
  await page.locator("#sweep").getByRole("combobox", { name: "over" }).selectOption("loads");
  await expect(page.locator("#sweep h2")).toHaveText("Load by load");
  await open(page, "failed");
  for (const id of ["percentiles", "slices", "probes"]) await expect(page.locator(`#${id}`)).toBeHidden();
});

test("runs that are laid over each other begin together, each cell with a line, in its own look and under the name of its run", async ({ page }) => {
  await open(page, "joined");
  const { cells, slices } = resultOf("joined");
  const all = cells.map(({ label }) => label);
  for (const id of ["percentiles", "slices"]) await expect(page.locator(`#${id} .legend li`)).toHaveText(all);
  await expect(page.locator("#heat-map figcaption")).toHaveText(all);
  await expect(page.locator("#slices .caption")).toContainText("each run from its own start on");
  const slider = page.getByRole("slider", { name: "slice" });
  const told = async (at: number) => (await slider.fill(String(at)), page.locator("#slices .readout").innerText());
  const last = slices.length - 1;
  expect([await told(0), await told(1)]).toEqual([expect.stringMatching(/\(run 3\).* at 10 s: /), expect.stringMatching(/\(run 4\).* at 10 s: /)]);
  expect([await told(last - 1), await told(last)]).toEqual([expect.stringContaining("(run 3)"), expect.stringContaining("(run 4)")]);
  await page.getByText("Drawings as files").click();
  const drawing = await svgOf(page, "Every slice, in the order in which it was measured");
  // Through 24 slices; host and pod of either run.
  const begins = [...drawing.matchAll(/<path d="M([\d.]+) [^"L]*(?:L[^"L]*){23}" fill="none"/g)].map(([, x]) => x);
  expect(begins).toHaveLength(4);
  expect(begins.slice(2)).toEqual(begins.slice(0, 2));
  await open(page, "slower");
  await expect(page.locator("#slices .caption")).not.toContainText("each run");
});

test("a pointer on a slice shows it, a click opens it", async ({ page }) => {
  await open(page, "slower");
  const over = page.locator("#slices .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  if (box === null) throw new Error("no plot");
  const readout = page.locator("#slices .readout");
  let found = false;
  for (let step = 1; step < 40 && !found; step += 1) {
    await page.mouse.move(box.x + box.width * 0.3, box.y + (box.height * step) / 40);
    found = (await readout.innerText()).includes("deployment");
  }
  expect(found).toBe(true);
  await page.mouse.down();
  await page.mouse.up();
  await expect(page.getByRole("dialog")).toBeVisible();
});

test("a figure opens by keyboard, and the focus comes back to it", async ({ page }) => {
  await open(page, "slower");
  const button = page.locator("table[data-contrast] button").first();
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(button).toBeFocused();
});

test("another figure, time and load can be chosen", async ({ page }) => {
  await open(page, "platforms");
  await page.locator("#slices select").first().selectOption("response.p99");
  await page.locator("#percentiles select").first().selectOption("both");
  const load = page.locator("#slices").getByLabel("load");
  await load.selectOption({ index: 1 });
  const second = await load.inputValue();
  await page.getByRole("slider", { name: "slice" }).fill("1");
  await expect(page.locator("#slices .readout")).toContainText("response p99");
  expect(second).not.toBe("");
});

test("what is drawn over time is all of one load, and a slice of another load is not chosen any more", async ({ page }) => {
  await open(page, "platforms");
  const slices = page.locator("#slices");
  await page.getByRole("slider", { name: "slice" }).fill("1");
  await expect(slices.locator(".readout")).toContainText("deployment");
  await page.locator("#probes").getByLabel("load").selectOption({ index: 1 });
  const chosen = await page.locator("#probes").getByLabel("load").inputValue();
  await expect(slices.getByLabel("load")).toHaveValue(chosen);
  await expect(slices.locator("p.readout")).toHaveText(/^\s*$/);
  await expect(page.getByRole("button", { name: "All of this slice" })).toBeDisabled();
});

test("a place of the heat map tells its slice and its requests", async ({ page }) => {
  await open(page, "slower");
  const { result, heat } = read((await page.locator("#data").textContent()) ?? "");
  const shown = result.cells.filter((cell) => loadName(cell) === loadName(result.cells[0] as Cell));
  const map = page.locator("#heat-map .heat").first();
  const label = (await map.locator("figcaption").innerText()).trim();
  const cell = shown.find((each) => each.label === label)?.id ?? NaN;
  const columns = heat?.cells[cell] ?? [];
  const at = columns.length - 1;
  const [first, counts] = columns[at] ?? [0, []];
  // The picture has the bins of all cells that it shows.
  const bins = shown.flatMap(({ id }) => heat?.cells[id] ?? []).filter(([, counts]) => counts.length > 0);
  const [low, high] = [Math.min(...bins.map(([begin]) => begin)), Math.max(...bins.map(([begin, counts]) => begin + counts.length))];
  for (const [bin, count] of counts.entries()) {
    await map.locator("canvas").hover({ position: await map.locator("canvas").evaluate(
      ({ clientWidth, clientHeight }, [x = 0, y = 0]) => ({ x: clientWidth * x, y: clientHeight * y }),
      [(at + 0.5) / columns.length, (high - first - bin - 0.5) / (high - low)],
    ) });
    await expect(map.locator(".readout")).toContainText(`: ${count} request`);
  }
  await expect(map.locator(".readout")).toContainText(/^deployment \d+, block \d+, at /);
  await expect(map.locator("svg text").last()).toHaveText(/ s$/);
});

test("cells are put in the order of a figure, and back", async ({ page }) => {
  await open(page, "platforms");
  const table = page.locator("#cell-table table");
  const result = resultOf("platforms");
  const first = loadName(result.cells[0] as Cell);
  const cells = result.cells.filter((cell) => cell.role !== "twin" && cell.answered > 0 && loadName(cell) === first);
  const value = (cell: Cell) => cell.figures.find(({ metric }) => metric === "response.p50")?.value ?? 0;
  const byValue = cells.toSorted((one, other) => value(one) - value(other)).map(({ label }) => label);
  const names = table.locator("tbody th");
  await expect(names).toHaveText(cells.map(({ label }) => label));
  const heading = table.getByRole("button", { name: "response p50", exact: true });
  await heading.click();
  await expect(names).toHaveText(byValue);
  await expect(table.locator("th[aria-sort=ascending]")).toHaveText(/response p50/);
  await heading.click();
  await expect(names).toHaveText(byValue.toReversed());
  await heading.click();
  await expect(names).toHaveText(cells.map(({ label }) => label));
});

/** What is saved of a drawing as SVG. */
async function svgOf(page: Page, heading: string): Promise<string> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `${heading} as SVG`, exact: true }).click();
  return readFileSync(await (await download).path(), "utf8");
}

test("a drawing is saved as PNG and as SVG", async ({ page }) => {
  const faults = await open(page, "platforms");
  await page.getByText("Drawings as files").click();
  const saved = async (name: string) => {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name, exact: true }).click();
    const file = await download;
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  const picture = await saved("Every slice, in the order in which it was measured as PNG");
  expect(picture.name).toBe("every-slice-in-the-order-in-which-it-was-measured.png");
  expect(picture.bytes.subarray(1, 4).toString()).toBe("PNG");
  const colours = new Set(await coloursOf(page, picture.bytes)).size;
  // Points, lines and letters on paper.
  expect(colours).toBeGreaterThan(20);
  const drawing = await saved("Load by load as SVG");
  expect(drawing.bytes.toString()).toMatch(/^<svg .*<path [^>]*stroke="rgb/s);
  expect(drawing.bytes.toString()).not.toContain("class=");
  // What is drawn on a canvas is written down as it is drawn: a point for each slice, the axes, their words.
  const slices = (await saved("Every slice, in the order in which it was measured as SVG")).bytes.toString();
  const { cells, slices: measured } = resultOf("platforms");
  const shown = cells.filter((cell) => loadName(cell) === loadName(cells[0] as Cell)).map(({ id }) => id);
  const count = measured.filter(({ cell, counted }) => counted && shown.includes(cell)).length;
  const paths = slices.match(/<path [^>]*>/g)?.filter((path) => /fill="(?!none)|stroke="#/.test(path)) ?? [];
  // The marks of a cell are one path, of which each begins with a move.
  expect(paths.join("").match(/M/g)?.length ?? 0).toBeGreaterThanOrEqual(count);
  expect(slices).toContain("Every slice, in the order in which it was measured</tspan></text>");
  expect(slices).not.toContain("<image");
  expect(faults).toEqual([]);
});

for (const name of ["slower", "layers", "capacities"]) {
  test(`whatever is drawn of ${name} is had as PNG and as SVG at any width`, async ({ page }) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await open(page, name);
      await page.getByText("Drawings as files").click();
      await expect(page.locator("#pictures li").first()).toBeVisible();
      const drawn = await page.locator("main section:not(:has(section))").filter({ has: page.locator(".drawn, .plot, .measured, canvas") }).locator("h2").allTextContents();
      const buttons = await page.locator("#pictures li button").evaluateAll((all) => all.map((button) => button.getAttribute("aria-label")));
      expect(buttons).toEqual(drawn.flatMap((heading) => [`${heading} as PNG`, `${heading} as SVG`]));
      for (const section of await page.locator("main section:not(:has(section))").filter({ has: page.locator(".drawn") }).all()) {
        const marks = await section.locator("svg circle, svg rect").count();
        const svg = await svgOf(page, (await section.locator("h2").textContent()) ?? "");
        // And the paper.
        expect(svg.match(/<(circle|rect) /g)?.length).toBe(marks + 1);
      }
    }
  });
}

test("the drawings of a figure's dialog are saved like those of the page", async ({ page }) => {
  const faults = await open(page, "slower");
  await page.locator('tr[data-metric="response.p50"]:not([data-request])').getByRole("button").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Drawings as files").click();
  await expect(dialog.locator(".pictures button")).toHaveText(["PNG", "SVG", "PNG", "SVG"]);
  for (const [heading, mark] of [["Block by block", ".point"], ["Distribution of the response time", ".outline"]] as const) {
    const paths = await dialog.locator(`path${mark}`).evaluateAll((all) => all.map((path) => path.getAttribute("d") ?? ""));
    expect(paths.length).toBeGreaterThan(0);
    const svg = await svgOf(page, heading);
    for (const path of paths) expect(svg).toContain(`d="${path}"`);
    expect(svg).toContain(`${heading}</tspan></text>`);
    const picture = page.waitForEvent("download");
    await page.getByRole("button", { name: `${heading} as PNG`, exact: true }).click();
    expect(readFileSync(await (await picture).path()).subarray(1, 4).toString()).toBe("PNG");
  }
  expect(faults).toEqual([]);
});

test("an objective stands where its figure is on the axis", async ({ page }) => {
  await open(page, "capacities");
  const curves = page.locator("#capacity-curves");
  await expect(curves.locator("line.objective")).toHaveCount(1);
  await expect(curves.getByText("p99 <= 10ms", { exact: true })).toBeVisible();
  const tick = curves.locator("g").filter({ has: page.getByText("10 ms", { exact: true }) }).locator("line.tick");
  expect(await curves.locator("line.objective").getAttribute("y1")).toBe(await tick.getAttribute("y1"));
});

test("the rate asked for stands beside the one that was achieved", async ({ page }) => {
  await open(page, "slower");
  await page.getByText("Drawings as files").click();
  const heading = "Every slice, in the order in which it was measured";
  // In the ink, as no other line is.
  const lines = async () => (await svgOf(page, heading)).match(/<path d="M[\d.]+ ([\d.]+)L[\d.]+ \1" fill="none" stroke="#1b2330"/g)?.length ?? 0;
  expect(await lines()).toBe(0);
  await page.locator("#slices").getByLabel("figure").selectOption("rate");
  await expect(page.locator("#slices .caption")).toContainText("line: the rate asked for");
  expect(await lines()).toBe(1);
  await open(page, "connections");
  await page.locator("#slices").getByLabel("figure").selectOption("rate");
  await expect(page.locator("#slices .caption")).not.toContainText("the rate asked for");
});

test("words in a saved drawing are broken into the lines of the page", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  await open(page, "platforms");
  await page.getByText("Drawings as files").click();
  const heading = "Every slice, in the order in which it was measured";
  const drawing = await svgOf(page, heading);
  const tspans = [...drawing.matchAll(/<tspan x="([\d.]+)" y="([\d.]+)">/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
  // Where each line stands, by the texts as wholes.
  const lines = await page.locator("section").filter({ has: page.getByRole("heading", { name: heading }) }).evaluate((section) =>
    [...section.querySelectorAll("h2, .legend li")].map((words) => {
      const texts = [...words.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
      const rects = texts.flatMap((text) => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return [...range.getClientRects()];
      });
      return new Set(rects.map(({ top }) => Math.round(top))).size;
    }),
  );
  expect(lines[0]).toBeGreaterThan(1);
  expect(tspans.length).toBe(lines.reduce((sum, count) => sum + count, 0));
  const text = drawing.replaceAll(/<\/?tspan[^>]*>/g, "");
  expect(text).toMatch(new RegExp(`<text [^>]*font-size="14px" font-weight="600">${heading}</text>`));
  for (const [x, y] of tspans) {
    expect(x).toBeLessThan(390);
    expect(y).toBeGreaterThan(0);
  }
});

/** Draws something more in each plot, whenever it sets a dash. */
async function drawMore(page: Page, more: string): Promise<void> {
  await page.evaluate((code) => {
    const { prototype } = CanvasRenderingContext2D;
    const { setLineDash } = prototype;
    const NativePath = Path2D;
    const draw: Record<string, (context: CanvasRenderingContext2D) => void> = {
      written: (context) => {
        context.fillRect(1, 2, 3, 4);
        context.strokeRect(5, 6, 7, 8);
        context.beginPath();
        context.bezierCurveTo(1, 1, 2, 2, 3, 3);
        context.closePath();
        context.stroke();
      },
      ellipse: (context) => context.ellipse(0, 0, 1, 1, 0, 0, 1),
      arcTo: (context) => context.arcTo(0, 0, 1, 1, 1),
      quadraticCurveTo: (context) => context.quadraticCurveTo(0, 0, 1, 1),
      roundRect: () => new Path2D().roundRect(0, 0, 1, 1, 1),
      strokeText: (context) => context.strokeText("", 0, 0),
      drawImage: (context) => context.drawImage(document.createElement("canvas"), 0, 0, 1, 1),
      addPath: () => new Path2D().addPath(new Path2D()),
      "an anticlockwise arc": (context) => context.arc(0, 0, 1, 0, 1, true),
      "a path that was made before": (context) => context.stroke(new NativePath()),
    };
    prototype.setLineDash = function (segments: number[]) {
      setLineDash.call(this, segments);
      draw[code]?.(this);
    };
  }, more);
}

const UNWRITTEN = ["ellipse", "arcTo", "quadraticCurveTo", "roundRect", "strokeText", "drawImage", "addPath", "an anticlockwise arc", "a path that was made before"];

test("what cannot be written down is said rather than lost, and the drawing stays", async ({ page }) => {
  const heading = "Latency by percentile";
  for (const what of UNWRITTEN) {
    const faults = await open(page, "slower");
    await page.getByText("Drawings as files").click();
    await drawMore(page, what);
    await page.getByRole("button", { name: `${heading} as SVG`, exact: true }).click();
    await expect(page.locator("#pictures .caution")).toHaveText(`${heading} could not be made a file: Error: not written down: ${what}`);
    expect(faults).toEqual([]);
  }
  await open(page, "slower");
  await page.getByText("Drawings as files").click();
  await drawMore(page, "written");
  const drawing = await svgOf(page, heading);
  expect(drawing).toMatch(/<rect x="1" y="2" width="3" height="4" fill="#/);
  expect(drawing).toMatch(/<rect x="5" y="6" width="7" height="8" fill="none" stroke="#/);
  expect(drawing).toContain('d="M1 1C1 1 2 2 3 3Z"');
});

test("a flame graph is searched, widened and compared", async ({ page }) => {
  await open(page, "layers");
  const graph = page.locator("#flame-graphs");
  await expect(graph.locator("svg g.frame").first()).toBeVisible();
  await graph.getByLabel("find").fill("tcp_sendmsg");
  await expect(graph.locator(".readout")).toContainText("“tcp_sendmsg”");
  await graph.getByLabel("find").fill("");
  await graph.locator("svg g.frame").filter({ hasText: "service" }).first().press("Enter");
  await expect(graph.getByRole("button", { name: "All of it" })).toBeVisible();
  await graph.getByLabel("less").selectOption({ label: "host" });
  await expect(graph.locator(".readout")).toContainText("against host");
  const shown = await graph.getByLabel("cell").inputValue();
  await graph.getByRole("button", { name: "Swap" }).click();
  await expect(graph.getByLabel("less")).toHaveValue(shown);
  // Nothing is compared with itself.
  await graph.getByLabel("cell").selectOption(shown);
  await expect(graph.getByLabel("less")).toHaveValue("");
});

for (const name of PAGES.filter((each) => each.startsWith("hostile"))) {
  test(`nothing in ${name} runs`, async ({ page }) => {
    const faults = await open(page, name);
    // Whatever can be opened is.
    for (const folded of await page.locator("summary").all()) await folded.click();
    for (const figure of await page.locator("main button.figure").all()) {
      await figure.click();
      await expect(page.getByRole("dialog")).toContainText("window.ran=1");
      await page.keyboard.press("Escape");
    }
    const slice = page.getByRole("slider", { name: "slice" });
    if ((await slice.count()) > 0) await slice.fill("1");
    const frames = page.locator("#flame-graphs g.frame");
    if ((await frames.count()) > 0) {
      await frames.nth(1).press("Enter");
      await expect(page.locator("#flame-graphs .readout")).toContainText("<script>window.ran=1");
    }
    expect(await page.evaluate(() => "ran" in window)).toBe(false);
    await expect(page.locator("main")).toContainText("<script>window.ran=1");
    expect(await page.locator("img, iframe, link, object, embed, body style").count()).toBe(0);
    expect(await page.locator("script").count()).toBe(2);
    expect(faults).toEqual([]);
  });
}

for (const name of MEASURED) {
  test("the page of a measured run is smaller than a megabyte", () => {
    expect(statSync(file(name)).size).toBeLessThanOrEqual(1_000_000);
  });
}
