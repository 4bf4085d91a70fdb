import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { Place, Problem } from "../../../shared/errors.ts";
import type { Brand, BrandSettings, Picture } from "../../documents/pages/brand.ts";
import type { AuthoredFiles } from "../authored-files.ts";
import type { Located } from "../document.ts";
import type { Flaw } from "./drawing.ts";

/** Every page loads them, so they must be small. */
const mostBytes = 100_000;

/** The pictures that `brand:` names, and their problems. @param place of an entry in catalog.yaml */
export async function readBrandPictures(
  folder: string,
  brand: BrandSettings,
  files: AuthoredFiles,
  place: Located<unknown>["place"],
): Promise<{ value: Brand; problems: Problem[] }> {
  const problems: Problem[] = [];
  const report = (message: string, hint: string, at: Place) =>
    problems.push({ code: "config-brand", severity: "error", message, hint, at });
  const read = async (use: "logo" | "favicon"): Promise<Picture | undefined> => {
    const file = brand.files[use];
    if (file === "") return undefined;
    const picture = await pictureIn(file, use, files.read(file), `${folder}/${file}`);
    if (typeof picture === "string")
      report(
        `${file} ${picture}`,
        "Correct the picture, or the entry in catalog.yaml.",
        place(["brand", use], "value"),
      );
    else if (!("flaws" in picture)) return picture;
    else for (const { message, hint, at } of picture.flaws) report(message, hint, at);
    return undefined;
  };
  return { value: { ...brand, logo: await read("logo"), favicon: await read("favicon") }, problems };
}

/** @returns the picture, the flaws of a drawing, or what is wrong with the file */
async function pictureIn(
  file: string,
  use: string,
  bytes: Uint8Array | undefined,
  displayed: string,
): Promise<Picture | { flaws: Flaw[] } | string> {
  if (!bytes) return "does not exist";
  if (bytes.length > mostBytes) return `has ${bytes.length} bytes, expected at most ${mostBytes}`;
  const ending = file.endsWith(".svg") ? "svg" : "png";
  const size = ending === "svg" ? await drawingSize(bytes, displayed) : pixelSize(bytes);
  if (typeof size === "string" || "flaws" in size) return size;
  const [width, height] = size;
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
  const base64 = Buffer.from(bytes).toString("base64");
  return { path: `assets/${use}.${digest}.${ending}`, base64, width, height };
}

const pngStart = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

function pixelSize(bytes: Uint8Array): [number, number] | string {
  const png = Buffer.from(bytes);
  if (png.length < 24 || !png.subarray(0, pngStart.length).equals(pngStart)) return "is not a PNG file";
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  return width > 0 && height > 0 ? [width, height] : "has no width or no height";
}

/** Width and height of the viewBox. */
async function drawingSize(
  bytes: Uint8Array,
  file: string,
): Promise<[number, number] | { flaws: Flaw[] } | string> {
  if (!isUtf8(bytes)) return "is not UTF-8 text";
  // Imported lazily, because most projects have no drawing.
  const { readDrawing } = await import("./drawing.ts");
  const drawing = readDrawing({ file, text: new TextDecoder().decode(bytes) });
  if (drawing.flaws.length > 0) return drawing;
  const number = String.raw`([-+]?[\d.]+(?:e[-+]?\d+)?)`;
  const [, , , width, height] =
    new RegExp(`^\\s*${Array(4).fill(number).join("[\\s,]+")}\\s*$`, "i").exec(drawing.viewBox) ?? [];
  const size: [number, number] = [Number(width ?? 0), Number(height ?? 0)];
  return size.every((side) => side > 0) ? size : "has no viewBox, expected one such as 0 0 120 40";
}
