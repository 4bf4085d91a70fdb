interface Range {
  name: string;
  quality: number;
}

/** Parses a list with `q` weights (RFC 9110, 12.4.2); an invalid weight counts as 1. */
function readRanges(header: string): Range[] {
  return header.split(",").flatMap((part) => {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    if (name === "") return [];
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "");
    const quality =
      weight !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 1;
    return [{ name, quality }];
  });
}

/**
 * The offered media type that an Accept header prefers; undefined: none. Ties go to the more precise range,
 * then to the first offered type.
 * @param header null: no header, which accepts everything
 */
export function chooseType<T extends string>(header: string | null, offered: readonly T[]): T | undefined {
  if (header === null) return offered[0];
  const ranges = readRanges(header);
  const liked = offered
    .map((type) => ({ type, ...bestRange(ranges, type) }))
    .filter(({ quality }) => quality > 0);
  liked.sort((a, b) => b.quality - a.quality || b.precision - a.precision);
  return liked[0]?.type;
}

/** The most precise range decides, regardless of its weight, so that a client can exclude one type. */
function bestRange(ranges: readonly Range[], type: string): { quality: number; precision: number } {
  const precisions = ["*/*", `${type.split("/")[0]}/*`, type];
  let best = { quality: 0, precision: -1 };
  for (const { name, quality } of ranges) {
    const precision = precisions.indexOf(name);
    if (
      precision > best.precision ||
      (precision === best.precision && quality > best.quality && precision >= 0)
    ) {
      best = { quality, precision };
    }
  }
  return best;
}

/** Maximum indentation, as in the framework that existing API clients expect. */
const deepestIndent = 8;

/** Indentation requested by an Accept header (`application/json; indent=4`); 0: none. */
export function indentOf(header: string | null): number {
  for (const range of (header ?? "").split(",")) {
    const [name = "", ...parameters] = range.split(";").map((piece) => piece.trim().toLowerCase());
    if (!["application/json", "application/*", "*/*"].includes(name)) continue;
    const [, indent] = parameters.map((each) => /^indent\s*=\s*(\d{1,2})$/.exec(each)).find(Boolean) ?? [];
    if (indent !== undefined) return Math.min(Number(indent), deepestIndent);
  }
  return 0;
}

export type Encoding = "br" | "zstd" | "gzip";

/** Smallest output first, which decides between equal weights. */
const encodings: readonly Encoding[] = ["br", "zstd", "gzip"];

/** Encodings that a request accepts, best first; plain bytes are always allowed. */
export function acceptedEncodings(header: string | null): Encoding[] {
  if (header === null || header === "") return [];
  const ranges = readRanges(header);
  const qualityOf = (name: string) =>
    (ranges.find((range) => range.name === name) ?? ranges.find((range) => range.name === "*"))?.quality ?? 0;
  const plain = ranges.find((range) => range.name === "identity")?.quality ?? 0;
  return encodings
    .map((encoding) => ({ encoding, quality: qualityOf(encoding) }))
    .filter(({ quality }) => quality > 0 && quality >= plain)
    .sort((a, b) => b.quality - a.quality)
    .map(({ encoding }) => encoding);
}
