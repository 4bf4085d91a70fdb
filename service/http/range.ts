/** First and last byte, "whole" for the whole file, "none" for a range that begins after its end. */
type RequestedRange = { start: number; end: number } | "whole" | "none";

/** @param validators values of If-Range that allow a part: those of the current file */
export const requestedRange = (
  { range, ifRange }: { range: string | null | undefined; ifRange: unknown },
  validators: readonly string[],
  size: number,
): RequestedRange =>
  ifRange == null || validators.includes(String(ifRange)) ? rangeOf(range, size) : "whole";

/** One range of bytes (RFC 9110, 14.2). Several ranges or an invalid one give the whole file. */
function rangeOf(header: string | null | undefined, size: number): RequestedRange {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return "whole";
  if (first === "")
    return last === "0" || size === 0 ? "none" : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "whole";
  if (start >= size) return "none";
  return { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
