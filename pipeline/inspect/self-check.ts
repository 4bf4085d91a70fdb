import { type CryptolibPost, malformed } from "./inspection.ts";

/** Looks for the hash that the product's self-check expects: a word of 64 hexadecimal digits in upper case. */
export interface SelfCheckFinder {
  /**
   * The next file of the package; ends the one before.
   * @param path as the package has it; a leading `/` or `./` does not count
   * @param arch of the slice whose content this is, in files for several architectures
   * @returns what takes its content in order, or undefined when the file is not looked at
   */
  file(path: string, arch?: string): ((chunk: Uint8Array) => void) | undefined;
  /**
   * What was found in all files. Of files for several architectures, exactly one hash for each.
   * @throws Fault malformed, when the file was named beforehand and has none or several
   */
  found(): SelfCheck;
}

interface SelfCheck {
  cryptolib_post: CryptolibPost | null;
  /** The file it stands in. */
  file: string | null;
  /** Why there is none although there were candidates. */
  note: string | null;
}

interface Word {
  hash: string;
  file: string;
  arch: string;
}

const nothing: SelfCheck = { cryptolib_post: null, file: null, note: null };
/** More different ones are not collected: they are several anyway, and the list is for reading. */
const most = 8;

/** @param pattern the file it stands in: a path, in which `*` stands for any part of a name; undefined: every file */
export function selfCheckFinder(pattern: string | undefined): SelfCheckFinder {
  const isLookedAt = pattern === undefined ? () => true : matcher(pattern);
  const words: Word[] = [];
  let isThere = false;
  let end = () => {};

  return {
    file(path, arch = "") {
      end();
      end = () => {};
      const file = plain(path);
      if (!isLookedAt(file)) return undefined;
      isThere = true;
      const scanner = wordScanner((hash) => {
        const isKnown = words.some((word) => word.hash === hash && word.arch === arch);
        if (!isKnown && words.length < most) words.push({ hash, file, arch });
      });
      end = scanner.end;
      return scanner.write;
    },
    found() {
      end();
      const [first] = words;
      const post = onlyOneEach(words);
      if (first && post) return { cryptolib_post: post, file: first.file, note: null };
      if (pattern === undefined) return words.length === 0 ? nothing : { ...nothing, note: several(words) };
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

function onlyOneEach(words: readonly Word[]): CryptolibPost | undefined {
  const byArch = new Map(words.map(({ arch, hash }) => [arch, hash]));
  if (byArch.size === 0 || byArch.size < words.length) return undefined;
  const anywhere = byArch.get("");
  if (anywhere === undefined) return { expected_hash_per_arch: Object.fromEntries([...byArch].sort()) };
  return byArch.size === 1 ? { expected_hash: anywhere } : undefined;
}

const several = (words: readonly Word[]): string =>
  `several self-check hashes are inside, expected one: ${words
    .map(({ hash, file, arch }) => `${hash} in ${file}${arch && ` (${arch})`}`)
    .join(", ")}${words.length === most ? ", …" : ""}`;

const length = 64;
const isHexadecimal = new Uint8Array(256);
for (const digit of Buffer.from("0123456789ABCDEFabcdef")) isHexadecimal[digit] = 1;

/** Finds words of 64 upper-case hexadecimal digits that are no part of longer ones, in content that comes in chunks. */
function wordScanner(take: (word: string) => void): { write(chunk: Uint8Array): void; end(): void } {
  let carried: Uint8Array = new Uint8Array(0);

  function scan(bytes: Uint8Array, until: number): void {
    // A run of 64 has a digit at every 64th place, wherever it begins: no other byte needs a look.
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
    write(chunk) {
      const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
      let until = bytes.length;
      while (until > 0 && isHexadecimal[bytes[until - 1] ?? 0]) until--;
      scan(bytes, until);
      // One more than a word is enough to tell that a run is too long, however long it is.
      carried = Uint8Array.from(bytes.subarray(Math.max(until, bytes.length - length - 1)));
    },
    end() {
      scan(carried, carried.length);
      carried = new Uint8Array(0);
    },
  };
}
