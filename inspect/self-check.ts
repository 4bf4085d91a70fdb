import type { CryptolibPost, Inspection } from "./inspection.ts";
import { Fault, malformed } from "./verdict.ts";

/** Adds the self-check result. A failed self-check lowers only a verdict that was `ok`. */
export function withSelfCheck(inspection: Inspection, finder: SelfCheckFinder): Inspection {
  try {
    const { cryptolib_post, note } = finder.found();
    return { ...inspection, cryptolib_post, notes: [...inspection.notes, ...(note ? [note] : [])] };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (inspection.verdict === "ok") return { ...inspection, verdict: error.verdict, reason: error.message };
    return { ...inspection, notes: [...inspection.notes, error.message] };
  }
}

export type SelfCheckFinder = ReturnType<typeof selfCheckFinder>;

interface SelfCheck {
  cryptolib_post: CryptolibPost | null;
  file: string | null;
  /** The reason why no candidate was chosen. */
  note: string | null;
}

interface FoundHash {
  hash: string;
  file: string;
  arch: string;
}

const noSelfCheck: SelfCheck = { cryptolib_post: null, file: null, note: null };
/** More candidates are not collected: the result is ambiguous anyway, and people read this list. */
const maxWords = 8;

/**
 * Finds the hash that the product's self-check expects: a word of 64 upper-case hexadecimal digits.
 * @param pattern path of the file, with `*` for any part of a name; undefined: every file
 */
export function selfCheckFinder(pattern: string | undefined) {
  const isLookedAt = pattern === undefined ? () => true : matcher(pattern);
  const words: FoundHash[] = [];
  let isThere = false;
  let end = () => {};

  return {
    /**
     * Starts the next file of the package and ends the previous one. A leading `/` or `./` of its path is ignored.
     * @returns a consumer for the content in order; undefined: the file is not searched
     */
    file(path: string, arch = "") {
      end();
      end = () => {};
      const file = plain(path);
      if (!isLookedAt(file)) return undefined;
      isThere = true;
      const scanner = wordScanner((hash) => {
        const isKnown = words.some((word) => word.hash === hash && word.arch === arch);
        if (!isKnown && words.length < maxWords) words.push({ hash, file, arch });
      });
      end = scanner.end;
      return scanner.write;
    },
    /**
     * The result over all files. A multi-architecture file must have exactly one hash for each architecture.
     * @throws Fault malformed, if the file was named in advance and has no hash or several
     */
    found(): SelfCheck {
      end();
      const [first] = words;
      const post = onlyOneEach(words);
      if (first && post) return { cryptolib_post: post, file: first.file, note: null };
      if (pattern === undefined)
        return words.length === 0 ? noSelfCheck : { ...noSelfCheck, note: several(words) };
      if (!isThere) throw malformed(`there is no ${pattern} inside, expected there the self-check hash`);
      throw malformed(
        words.length === 0
          ? `${pattern} has no self-check hash, expected one word of 64 hexadecimal digits in upper case`
          : several(words),
      );
    },
  };
}

const plain = (path: string): string => path.replace(/^(?:\.?\/)+/, "");

function matcher(pattern: string): (path: string) => boolean {
  const names = plain(pattern)
    .split("*")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const whole = new RegExp(`^${names.join("[^/]*")}$`);
  return (path) => whole.test(path);
}

function onlyOneEach(words: readonly FoundHash[]): CryptolibPost | undefined {
  const byArch = new Map(words.map(({ arch, hash }) => [arch, hash]));
  if (byArch.size === 0 || byArch.size < words.length) return undefined;
  const anywhere = byArch.get("");
  if (anywhere === undefined) return { expected_hash_per_arch: Object.fromEntries([...byArch].sort()) };
  return byArch.size === 1 ? { expected_hash: anywhere } : undefined;
}

const several = (words: readonly FoundHash[]): string =>
  `several self-check hashes are inside, expected one: ${words
    .map(({ hash, file, arch }) => `${hash} in ${file}${arch && ` (${arch})`}`)
    .join(", ")}${words.length === maxWords ? ", …" : ""}`;

const length = 64;
const isHexadecimal = new Uint8Array(256);
for (const digit of Buffer.from("0123456789ABCDEFabcdef")) isHexadecimal[digit] = 1;

/** A longer run of digits is some other value, so its parts do not match. Content arrives in chunks. */
function wordScanner(take: (word: string) => void) {
  let carried: Uint8Array = new Uint8Array(0);

  function scan(bytes: Uint8Array, until: number): void {
    // Every run of 64 has a digit at some multiple of 64, so only those positions are tested.
    for (let at = length - 1; at < until; at += length) {
      if (!isHexadecimal[bytes[at] ?? 0]) continue;
      let from = at;
      while (from > 0 && isHexadecimal[bytes[from - 1] ?? 0]) from--;
      let to = at + 1;
      while (to < until && isHexadecimal[bytes[to] ?? 0]) to++;
      const word = to - from === length ? Buffer.from(bytes.subarray(from, to)).toString("latin1") : "";
      if (/^[0-9A-F]+$/.test(word)) take(word);
      at += Math.floor((to - at - 1) / length) * length;
    }
  }

  return {
    write(chunk: Uint8Array) {
      const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
      let until = bytes.length;
      while (until > 0 && isHexadecimal[bytes[until - 1] ?? 0]) until--;
      scan(bytes, until);
      // One digit more than a word is enough to know that the run is too long.
      carried = Uint8Array.from(bytes.subarray(Math.max(until, bytes.length - length - 1)));
    },
    end() {
      scan(carried, carried.length);
      carried = new Uint8Array(0);
    },
  };
}
