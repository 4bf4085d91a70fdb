import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type Place, type Problem, RelcatError } from "../../../shared/errors.ts";
import { decode } from "../../../shared/source.ts";
import type { Brand, BrandSettings, Picture, TemplateOverride } from "../../documents/pages/brand.ts";
import {
  markedVersion,
  pageTemplates,
  templateFolder,
  templateMark,
} from "../../documents/pages/page-templates.ts";
import type { AuthoredFiles } from "../authored-files.ts";
import { display } from "../display.ts";
import type { Located } from "../document.ts";
import type { Flaw } from "./drawing.ts";
import type { Fault } from "./template-markup.ts";

/** Every page loads them, so they must be small. */
const maxPictureBytes = 100_000;

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
  if (bytes.length > maxPictureBytes) return `has ${bytes.length} bytes, expected at most ${maxPictureBytes}`;
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

/**
 * Checks each template alone. Values that it uses are checked when a page is rendered.
 * @param names of the files in the template folder
 */
export async function readTemplateOverrides(
  folder: string,
  names: readonly string[],
  files: AuthoredFiles,
): Promise<{ value: TemplateOverride[]; problems: Problem[] }> {
  const templates: TemplateOverride[] = [];
  const problems: Problem[] = [];
  for (const name of names) {
    const file = `${folder}/${templateFolder}/${name}`;
    const report = (fault: Fault) => problems.push(problemIn(file, fault));
    const text = textIn(file, files.read(`${templateFolder}/${name}`) ?? new Uint8Array(), problems);
    if (text === undefined) continue;
    const fault = headFault(name, text);
    if (fault) report(fault);
    else if (name.endsWith(".hbs")) {
      // Imported lazily, because few projects have templates.
      const { templateFaults } = await import("./template-faults.ts");
      for (const each of templateFaults(name, text)) report(each);
    }
    templates.push({ name, file, text });
  }
  return { value: problems.length > 0 ? [] : templates, problems };
}

const problemIn = (file: string, { message, hint, line, column }: Fault): Problem => ({
  code: "template",
  severity: "error",
  message,
  hint,
  at: { file, line, column },
});

function textIn(file: string, bytes: Uint8Array, problems: Problem[]): string | undefined {
  try {
    return decode(file, bytes).text;
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function headFault(name: string, text: string): Fault | undefined {
  const top = { line: 1, column: 1 };
  const current = pageTemplates[name]?.version;
  if (current === undefined) {
    const expected = `expected one of ${Object.keys(pageTemplates).join(", ")}`;
    return {
      ...top,
      message: `relcat has no template ${display(name)}, ${expected}`,
      hint: "Rename or remove the file; relcat templates lists what each template is for.",
    };
  }
  const version = markedVersion(name, text);
  const mark = templateMark(name).trim();
  if (version === undefined) {
    return {
      ...top,
      message: `the first line does not say which version of ${name} it replaces, expected ${mark}`,
      hint: `Write that line, or start from relcat's own: relcat templates eject ${name}.`,
    };
  }
  if (version === current) return undefined;
  return {
    ...top,
    message: `the template was written for version ${version} of ${name}, expected ${current}`,
    hint: `Compare it with relcat's own, which relcat templates show ${name} prints, then write ${mark} as its first line.`,
  };
}
