interface Range {
  name: string;
  quality: number;
}

/** Reads a list of names with `q` weights (RFC 9110, 12.4.2); a weight that cannot be read counts as 1. */
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
 * The media type of `offered` that an Accept header likes best; undefined: none of them. Among equals the
 * one that is named more precisely wins, then the one that is offered first.
 * @param header null when the request has none: anything goes
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

/** The most precise range counts, whatever its weight: a type can be refused where all others are welcome. */
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

/** What JSON is indented by at most, as the framework had it that this API's clients were written against. */
const deepestIndent = 8;

/** Spaces that an Accept header asks to indent JSON by (`application/json; indent=4`); 0: none. */
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

/** Smallest first: what is liked equally goes by size. */
const encodings: readonly Encoding[] = ["br", "zstd", "gzip"];

/** The encodings a request accepts, best first; the plain bytes always do. */
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
