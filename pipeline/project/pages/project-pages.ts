import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type Problem, RelcatError } from "../../../shared/errors.ts";
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
import type { Fault, Words } from "./template-markup.ts";

/** Every page loads them, so they must be small. */
const maxPictureBytes = 100_000;

export async function readBrandPictures(
  folder: string,
  brand: BrandSettings,
  files: AuthoredFiles,
  place: Located<unknown>["place"],
): Promise<{ value: Brand; problems: Problem[] }> {
  const problems: Problem[] = [];
  const read = async (use: "logo" | "favicon"): Promise<Picture | undefined> => {
    const file = brand.files[use];
    if (file === "") return undefined;
    const picture = await pictureIn(file, use, files.read(file), `${folder}/${file}`);
    if (typeof picture === "object" && "path" in picture) return picture;
    const hint = "Correct the picture, or the entry in catalog.yaml.";
    const flaws =
      typeof picture === "string"
        ? [{ message: `${file} ${picture}`, hint, at: place(["brand", use], "value") }]
        : picture;
    problems.push(...flaws.map((flaw): Problem => ({ code: "config-brand", severity: "error", ...flaw })));
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
): Promise<Picture | Flaw[] | string> {
  if (!bytes) return "does not exist";
  if (bytes.length > maxPictureBytes) return `has ${bytes.length} bytes, expected at most ${maxPictureBytes}`;
  const ending = file.endsWith(".svg") ? "svg" : "png";
  const size = ending === "svg" ? await drawingSize(bytes, displayed) : pixelSize(bytes);
  if (typeof size === "string" || Array.isArray(size)) return size;
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
  const base64 = Buffer.from(bytes).toString("base64");
  return { path: `assets/${use}.${digest}.${ending}`, base64, ...size };
}

const pngStart = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

type Size = Pick<Picture, "width" | "height">;

function pixelSize(bytes: Uint8Array): Size | string {
  const png = Buffer.from(bytes);
  if (png.length < 24 || !png.subarray(0, pngStart.length).equals(pngStart)) return "is not a PNG file";
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  return width > 0 && height > 0 ? { width, height } : "has no width or no height";
}

async function drawingSize(bytes: Uint8Array, file: string): Promise<Size | Flaw[] | string> {
  if (!isUtf8(bytes)) return "is not UTF-8 text";
  // Imported lazily, because most projects have no drawing.
  const { readDrawing } = await import("./drawing.ts");
  const { viewBox, flaws } = readDrawing({ file, text: new TextDecoder().decode(bytes) });
  if (flaws.length > 0) return flaws;
  const number = String.raw`([-+]?[\d.]+(?:e[-+]?\d+)?)`;
  const four = new RegExp(`^\\s*${Array(4).fill(number).join("[\\s,]+")}\\s*$`, "i");
  const [, , , width = 0, height = 0] = four.exec(viewBox)?.map(Number) ?? [];
  return width > 0 && height > 0 ? { width, height } : "has no viewBox, expected one such as 0 0 120 40";
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
    const report = ({ message, hint, line, column }: Fault) =>
      problems.push({ code: "template", severity: "error", message, hint, at: { file, line, column } });
    const text = textIn(file, files.read(`${templateFolder}/${name}`) ?? new Uint8Array(), problems);
    if (text === undefined) continue;
    const fault = headFault(name, text);
    if (fault) report({ ...fault, line: 1, column: 1 });
    else if (name.endsWith(".hbs")) {
      // Imported lazily, because few projects have templates.
      const { templateFaults } = await import("./template-faults.ts");
      for (const each of templateFaults(name, text)) report(each);
    }
    templates.push({ name, file, text });
  }
  return { value: problems.length > 0 ? [] : templates, problems };
}

function textIn(file: string, bytes: Uint8Array, problems: Problem[]): string | undefined {
  try {
    return decode(file, bytes).text;
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function headFault(name: string, text: string): Words | undefined {
  const current = pageTemplates[name]?.version;
  if (current === undefined) {
    const expected = `expected one of ${Object.keys(pageTemplates).join(", ")}`;
    return {
      message: `relcat has no template ${display(name)}, ${expected}`,
      hint: "Rename or remove the file; relcat templates lists what each template is for.",
    };
  }
  const version = markedVersion(name, text);
  const mark = templateMark(name).trim();
  if (version === undefined) {
    return {
      message: `the first line does not say which version of ${name} it replaces, expected ${mark}`,
      hint: `Write that line, or start from relcat's own: relcat templates eject ${name}.`,
    };
  }
  if (version === current) return undefined;
  return {
    message: `the template was written for version ${version} of ${name}, expected ${current}`,
    hint: `Compare it with relcat's own, which relcat templates show ${name} prints, then write ${mark} as its first line.`,
  };
}
