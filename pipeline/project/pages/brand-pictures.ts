import { createHash } from "node:crypto";
import type { Brand, Picture } from "../../documents/pages/brand.ts";
import type { Problem } from "../../errors.ts";
import type { AuthoredFiles } from "../authored-files.ts";
import type { Located } from "../document.ts";

/** Every page loads them, so they must be small. */
const mostBytes = 100_000;

/** The pictures that `brand:` names, and their problems. @param place of an entry in catalog.yaml */
export function readBrandPictures(
  brand: Brand,
  files: AuthoredFiles,
  place: Located<unknown>["place"],
): { brand: Brand; problems: Problem[] } {
  const problems: Problem[] = [];
  const read = (use: "logo" | "favicon"): Picture | undefined => {
    const file = brand.files[use];
    if (file === "") return undefined;
    const picture = pictureIn(file, use, files.read(file));
    if (typeof picture !== "string") return picture;
    problems.push({
      code: "config-brand",
      severity: "error",
      message: `${file} ${picture}`,
      hint: "Correct the picture, or the entry in catalog.yaml.",
      at: place(["brand", use], "value"),
    });
    return undefined;
  };
  return { brand: { ...brand, logo: read("logo"), favicon: read("favicon") }, problems };
}

/** @returns the picture, or what is wrong with it */
function pictureIn(file: string, use: string, bytes: Uint8Array | undefined): Picture | string {
  if (!bytes) return "does not exist";
  if (bytes.length > mostBytes) return `has ${bytes.length} bytes, expected at most ${mostBytes}`;
  const ending = file.endsWith(".svg") ? "svg" : "png";
  const size = ending === "svg" ? drawingSize(bytes) : pixelSize(bytes);
  if (typeof size === "string") return size;
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

/** Width and height of the viewBox. A drawing that contains programs is refused: opened alone, they would run. */
function drawingSize(bytes: Uint8Array): [number, number] | string {
  const text = new TextDecoder().decode(bytes);
  const root = /<svg\b[^>]*>/.exec(text)?.[0] ?? "";
  if (!/\sxmlns=["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(root))
    return 'is not an SVG file, expected <svg xmlns="http://www.w3.org/2000/svg">';
  const unsafe = /<script\b|<foreignObject\b|<!ENTITY\b|\son[a-z]+\s*=|javascript:/i.exec(text)?.[0];
  if (unsafe) return `contains ${unsafe.trim()}, expected a drawing without programs`;
  const [, width, height] =
    /\sviewBox=["']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)\s*["']/.exec(root) ?? [];
  const size: [number, number] = [Number(width ?? 0), Number(height ?? 0)];
  return size.every((side) => side > 0) ? size : "has no viewBox, expected one such as 0 0 120 40";
}
