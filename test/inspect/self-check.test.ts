import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { selfCheckFinder } from "../../inspect/self-check.ts";
import { often } from "../support/effort.ts";

const [one, two] = ["B1719822BE4DB4BBAD9C482B9DEB6328A4FD7AFA6B233A503974AC6F051F2F79", "0".repeat(64)];

function found(files: readonly [path: string, content: string, arch?: string][], pattern?: string) {
  const finder = selfCheckFinder(pattern);
  for (const [path, content, arch] of files) finder.file(path, arch)?.(Buffer.from(content, "latin1"));
  return finder.found();
}

describe("a package without a named file", () => {
  test("has its only hash in any file, also in two files", () => {
    expect(
      found([
        ["./readme", "nothing"],
        ["./usr/bin/agent", `\0${one}\0`],
        ["./copy", one],
      ]),
    ).toEqual({
      cryptolib_post: { expected_hash: one },
      file: "usr/bin/agent",
      note: null,
    });
  });

  test("has no note without a hash, and a list of several", () => {
    expect(found([["a", "nothing"]])).toEqual({ cryptolib_post: null, file: null, note: null });
    expect(found([["a", `${one} ${two}`]])).toEqual({
      cryptolib_post: null,
      file: null,
      note: `several self-check hashes are inside, expected one: ${one} in a, ${two} in a`,
    });
  });

  test("has a bounded list of hashes", () => {
    const many = Array.from({ length: 100 }, (_, index) => String(index).padStart(64, "0")).join("\n");
    expect(found([["a", many]]).note).toMatch(/^several.*, …$/);
  });

  test.each([
    ["63 digits", one.slice(1)],
    ["65 digits", `${one}0`],
    ["a longer word that goes on in lower case", `${one}a`],
    ["a longer word that begins in lower case", `a${one}`],
    ["lower case", one.toLowerCase()],
    ["two words joined", one + two],
  ])("has no hash in %s", (_, content) => {
    expect(found([["a", content]]).cryptolib_post).toBeNull();
  });

  test("has no word that continues in the next file", () => {
    expect(
      found([
        ["a", one.slice(0, 32)],
        ["b", one.slice(32)],
      ]).cryptolib_post,
    ).toBeNull();
    expect(
      found([
        ["a", one],
        ["b", "00"],
      ]).cryptolib_post,
    ).toEqual({ expected_hash: one });
  });
});

describe("a named file", () => {
  test.each([["usr/bin/agent"], ["/usr/bin/agent"], ["usr/*/agent"], ["./usr/bin/*"]])(
    "%s is searched only",
    (pattern) => {
      const files: [string, string][] = [
        ["./usr/bin/agent", one],
        ["./usr/share/other", two],
        ["./usr/bin/x/agent", two],
      ];
      expect(found(files, pattern).file).toBe("usr/bin/agent");
    },
  );

  test("matches a dot as a dot", () => {
    expect(() => found([["agent_exe", one]], "agent.exe")).toThrow("there is no agent.exe inside");
  });

  test("is refused if it is missing, has none or has several", () => {
    expect(() => found([], "usr/bin/agent")).toThrow(
      "there is no usr/bin/agent inside, expected there the self-check hash",
    );
    expect(() => found([["usr/bin/agent", "none"]], "usr/bin/agent")).toThrow(
      "usr/bin/agent has no self-check hash, expected one word of 64 hexadecimal digits in upper case",
    );
    expect(() => found([["agent", `${one},${two}`]], "agent")).toThrow(
      `several self-check hashes are inside, expected one: ${one} in agent, ${two} in agent`,
    );
  });
});

describe("slices for several architectures", () => {
  test("each have their own hash", () => {
    expect(
      found([
        ["a", one, "x86_64"],
        ["a", two, "arm64"],
      ]).cryptolib_post,
    ).toEqual({
      expected_hash_per_arch: { arm64: two, x86_64: one },
    });
  });

  test("have several hashes if two are in one slice, or one is outside of all slices", () => {
    expect(found([["a", `${one} ${two}`, "arm64"]]).note).toMatch(
      /^several.* in a \(arm64\), .* in a \(arm64\)$/,
    );
    expect(
      found([
        ["a", one, "arm64"],
        ["b", one],
      ]).note,
    ).toMatch(/^several/);
  });
});

test("the result does not depend on the chunks of the content", () => {
  const text = fc
    .array(fc.oneof(fc.constantFrom(one, one.slice(1), "A", "f", " ", "z", "0".repeat(200)), fc.string()), {
      maxLength: 12,
    })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.infiniteStream(fc.integer({ min: 1, max: 90 })), (content, sizes) => {
      const bytes = Buffer.from(content, "latin1");
      const finder = selfCheckFinder(undefined);
      const take = finder.file("a");
      for (let at = 0; at < bytes.length; ) {
        const size = sizes.next().value ?? 1;
        take?.(bytes.subarray(at, at + size));
        at += size;
      }
      const expected = new Set(
        bytes.toString("latin1").match(/(?<![0-9A-Fa-f])[0-9A-F]{64}(?![0-9A-Fa-f])/g),
      );
      const { cryptolib_post, note } = finder.found();
      expect({ post: cryptolib_post, several: note !== null }).toEqual({
        post: expected.size === 1 ? { expected_hash: [...expected][0] } : null,
        several: expected.size > 1,
      });
    }),
    { numRuns: often(500, 100) },
  );
});
