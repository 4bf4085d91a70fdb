import { createHash } from "node:crypto";
import type { PrivateKey } from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { inspectSignatureFile } from "../../inspect/detached.ts";
import type { Keys } from "../../inspect/keys.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { clearsigned, keysWith, newKey } from "../support/openpgp.ts";

let key: PrivateKey;
let keys: Keys;
beforeAll(async () => {
  key = await newKey();
  keys = await keysWith(key);
});

const file = Buffer.from("content");
const sum = createHash("sha256").update(file).digest("hex");
const list = `${sum}  one.tar.xz\n${sum} *two.tar.xz`;
const other = "0".repeat(64);

const inspect = (text: string, beside: Record<string, Uint8Array> = {}) =>
  inspectBytes(inspectSignatureFile, Buffer.from(text), optionsWith(keys, beside), "SHA256SUMS.asc");

test("a list is ok, and names its missing files", async () => {
  expect(
    await inspect(await clearsigned(key, list), { "one.tar.xz": file, SHA256SUMS: Buffer.from(`${list}\n`) }),
  ).toMatchObject({
    verdict: "ok",
    key_id: key.getFingerprint(),
    facts: { files: { "one.tar.xz": sum, "two.tar.xz": sum } },
    notes: ["Not compared, because the files are missing: two.tar.xz."],
  });
});

test("a list with a long run of blanks takes no longer than another one", async () => {
  const text = (await clearsigned(key, list)).replace("\n\n", `\n\n${" ".repeat(100_000)}x\n`);
  const before = process.cpuUsage();
  expect(await inspect(text)).toMatchObject({ verdict: "bad-signature" });
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

describe("a list is refused:", () => {
  test.each([
    [
      "when a file has another sum",
      "bad-digest",
      list,
      { "two.tar.xz": Buffer.from("other") },
      "two.tar.xz has the SHA-256",
    ],
    [
      "when its unsigned copy differs",
      "bad-digest",
      list,
      { SHA256SUMS: Buffer.from(`${other}  one.tar.xz`) },
      "SHA256SUMS is not the list",
    ],
    [
      "when it has a file twice",
      "malformed",
      `${list}\n${other}  one.tar.xz`,
      {},
      "SHA256SUMS.asc has a file twice",
    ],
    ["when it is no list", "unsupported-format", "some text", {}, "expected lines of sha256sum alone"],
    [
      "when a file is the folder",
      "unsupported-format",
      `${sum}  ..`,
      {},
      "expected lines of sha256sum alone",
    ],
    [
      "when a file is in a folder",
      "unsupported-format",
      `${sum}  ../one.tar.xz`,
      {},
      "expected lines of sha256sum alone",
    ],
  ])("%s", async (_, verdict, text, beside, reason) => {
    expect(await inspect(await clearsigned(key, text), beside)).toMatchObject({
      verdict,
      reason: expect.stringContaining(reason),
    });
  });
});

describe("a signed text", () => {
  const change = async (what: string | RegExp, by: string) =>
    inspect((await clearsigned(key, list)).replace(what, by));

  test("can have lines that end in CRLF or white space, with a note", async () => {
    const text = (await clearsigned(key, list))
      .replaceAll("\n", " \r\n")
      .replaceAll(/^(-.*|Hash.*|.{0,64}) \r/gm, "$1\r");
    const inspection = await inspect(text);
    expect(inspection).toMatchObject({ verdict: "ok", facts: { files: { "one.tar.xz": sum } } });
    const spaces = inspection.uncovered.filter(({ why }) => why.startsWith("white space"));
    expect(spaces.map(({ from, to }) => text.slice(from, to))).toEqual([" \r", " \r"]);
  });

  test("can have dash-escaped lines", async () => {
    const inspection = await inspect(await clearsigned(key, `${sum}  one\n-not a sum`));
    expect(inspection).toMatchObject({ verdict: "unsupported-format", key_id: key.getFingerprint() });
  });

  test.each([
    [
      "changed",
      "malformed",
      /^Hash: .*$/m,
      "Hash: SHA256",
      'says "Hash: SHA256", which its signature does not use',
    ],
    ["without a hash", "malformed", /^Hash: .*\n/m, "", "does not begin with"],
    ["with another header", "malformed", /^Hash: .*$/m, "$&\nComment: x", "does not begin with"],
    ["with an unescaped dash", "malformed", / one/, " one\n-x", 'has a line that begins with "-"'],
    [
      "cut off before its signature",
      "malformed",
      /-----BEGIN PGP SIGNATURE[\s\S]*/,
      "",
      "has no -----BEGIN PGP SIGNATURE-----",
    ],
    ["with more behind it", "malformed", /$/, `${other}  evil`, "text follows the end of SHA256SUMS.asc"],
    ["with more before it", "malformed", /^/, "x\n", "is not an OpenPGP packet"],
    ["with more inside", "bad-signature", / one/, " one\nmore", "does not fit what it should sign"],
  ] as const)("%s is %s", async (_, verdict, what, by, reason) => {
    expect(await change(what, by)).toMatchObject({ verdict, reason: expect.stringContaining(reason) });
  });

  test("is malformed if it is not UTF-8", async () => {
    const bytes = Buffer.from(await clearsigned(key, Buffer.from([0x61, 0xff])), "latin1");
    const inspection = await inspectBytes(inspectSignatureFile, bytes, optionsWith(keys), "SHA256SUMS.asc");
    expect(inspection).toMatchObject({ verdict: "malformed", reason: "SHA256SUMS.asc is not UTF-8" });
  });

  test("is refused if its signature is for binary data", async () => {
    const inspection = await inspect(await clearsigned(key, list, { type: 0 }));
    expect(inspection).toMatchObject({
      verdict: "unsupported-format",
      reason: expect.stringContaining("not over text data"),
    });
  });
});
