import { beforeAll, expect, test } from "vitest";
import { copyProject, relcat } from "../support/run.ts";
import { ask, serveFolder } from "./origin.ts";

/** Search without JavaScript, on the sample. The worker and the script of the page have tests of their own. */
let url: string;

beforeAll(async () => {
  const folder = copyProject(".");
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  ({ url } = await serveFolder(`${folder}/dist`));
});

/** The results as text, without tags. */
async function found(query: string): Promise<string> {
  const { status, headers, text } = await ask(url, `/search/?q=${encodeURIComponent(query)}`);
  expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none';/);
  const [results = ""] = /<!--results-->[\s\S]*<!--\/results-->/.exec(text) ?? [];
  return results
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

test("a version finds its release and files", async () => {
  expect(await found("26.08.001 msi")).toBe(
    "Files northgate-client-core-26.08.001-x64.msi of 26.08.001 northgate-client-gui-26.08.001-x64.msi of 26.08.001 withdrawn",
  );
  expect(await found("26.06.001")).toMatch(/^Releases 26\.06\.001 Files /);
});

test("words find notes", async () => {
  expect(await found("TRAY icon")).toMatch(
    /^Notes 26\.09\.001: The desktop application on Ubuntu 24\.04 shows its tray icon/,
  );
});

test("a SHA-256 is ours, withdrawn or unknown", async () => {
  const { text } = await ask(url, "/releases/26.06.001/SHA256SUMS");
  const sum = text.slice(0, 64);
  expect(await found(sum.toUpperCase())).toMatch(
    /^This file is ours and was not withdrawn\. Files .* of 26\.06\.001$/,
  );
  expect(await found(sum.slice(0, 12))).toMatch(
    /^Files whose SHA-256 begins with these digits: Files .* of 26\.06\.001$/,
  );
  expect(await found("ab71365d79221180f1d8fd12ac1fdde7d5fcecf26ce82caf486970ebc893ee67")).toBe(
    "This file was withdrawn: do not use it. The release&#39;s page has the reason and the replacement. Files northgate-client-gui-26.08.001-x64.msi of 26.08.001 withdrawn",
  );
  const line = "ab71365d79221180f1d8fd12ac1fdde7d5fcecf26ce82caf486970ebc893ee67  ~/client.msi";
  for (const printed of [line, `sha256:${line.slice(0, 64)}`, `Hash : ${line.slice(0, 64).toUpperCase()}`])
    expect(await found(printed), printed).toMatch(/^This file was withdrawn: do not use it\./);
  expect(await found("ab71365d79221180")).toBe(
    "Files whose SHA-256 begins with these digits: Files northgate-client-gui-26.08.001-x64.msi of 26.08.001 withdrawn",
  );
  expect(await found("0".repeat(64))).toBe(
    "No file of ours has this SHA-256: neither a released nor a withdrawn one. Do not use it.",
  );
});

test("words without results are shown as text", async () => {
  const { text } = await ask(url, `/search/?q=${encodeURIComponent('<script>alert(1)</script>"')}`);
  expect(text).toContain("\u201C<bdi>&lt;script&gt;alert(1)&lt;/script&gt;&quot;</bdi>\u201D");
  expect(text).not.toContain("<script>alert");
  expect(text).toContain(' name="q" value="&lt;script&gt;alert(1)&lt;/script&gt;&quot;"');
});

test("without a query, the answer is the file, and an answer with one can be cached", async () => {
  const plain = await ask(url, "/search/?q=+");
  expect(plain.text).toContain("<noscript>");
  const first = await ask(url, "/search/?q=rpm");
  const again = await ask(url, "/search/?q=rpm", { headers: { "if-none-match": first.headers.etag ?? "" } });
  expect([first.status, again.status, again.text]).toEqual([200, 304, ""]);
  expect((await ask(url, "/search/?q=deb")).headers.etag).not.toBe(first.headers.etag);
});
