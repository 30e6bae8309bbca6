// The pixels of a picture.
import type { Page } from "@playwright/test";

/** A PNG as the browser of this page sees it: four bytes a pixel (red, green, blue, alpha), row by row. */
export async function pixelsOf(page: Page, png: Buffer): Promise<{ width: number; bytes: Buffer }> {
  const { width, url } = await page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("no canvas");
    context.drawImage(image, 0, 0);
    const reader = new FileReader();
    const read = new Promise((done) => reader.addEventListener("load", done));
    reader.readAsDataURL(new Blob([context.getImageData(0, 0, image.width, image.height).data]));
    await read;
    return { width: image.width, url: String(reader.result) };
  }, png.toString("base64"));
  return { width, bytes: Buffer.from(url.slice(url.indexOf(",") + 1), "base64") };
}

/** The colours of all pixels, each as `#rrggbb`. */
export async function coloursOf(page: Page, png: Buffer): Promise<string[]> {
  const { bytes } = await pixelsOf(page, png);
  return Array.from({ length: bytes.length / 4 }, (_, at) => `#${bytes.toString("hex", 4 * at, 4 * at + 3)}`);
}
