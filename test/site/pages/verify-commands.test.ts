import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { releasePage } from "../../../pipeline/site/pages/release-page.ts";
import {
  attributeOf,
  configOf,
  type Element,
  elementsOf,
  packageOf,
  releaseOf,
  templates,
  textOf,
  wordsOf,
} from "./factory.ts";

const folder = mkdtempSync(join(tmpdir(), "relcat-verify-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = [
  "plain-1.0.deb",
  "-rf",
  "-",
  "--help",
  "a b#c?.rpm",
  "it's.deb",
  `it's a "x" $HOME.deb`,
  "$(touch hit)`touch hit`.deb",
  " leading and trailing ",
  "*x",
  "!event ~ {a,b} [c] ; & | < >",
  "日本語 שלום 😀.deb",
  "%s%n\u200B.deb",
];

/** The command as a reader of the page copies it. */
function copied(name: string, checksum: string, system: string): string {
  const release = releaseOf("26.08.002", {
    packages: [packageOf(3, { name: "label", file: name, checksum })],
  });
  const html = textOf(releasePage(release, configOf(), templates)[0]);
  const codes = elementsOf(html, "code").filter(
    (code) => attributeOf(code, "data-copy") === `${system} command`,
  );
  expect(codes).toHaveLength(1);
  return wordsOf(codes[0] as Element);
}

test.each(names)("the commands for %j pass on its bytes and fail on others", (name) => {
  const bytes = `bytes of ${name}`;
  const checksum = createHash("sha256").update(bytes).digest("hex");
  writeFileSync(join(folder, name), bytes);
  const run = (shell: string, command: string) =>
    execFileSync(shell, ["-c", command], {
      cwd: folder,
      encoding: "utf8",
      stdio: "pipe",
      env: { ...process.env, LC_ALL: "C.UTF-8" },
    });

  for (const system of ["Linux", "macOS"]) {
    for (const shell of ["sh", "bash"]) expect(run(shell, copied(name, checksum, system))).toMatch(/: OK\n$/);
    expect(() => run("sh", copied(name, "0".repeat(64), system))).toThrow();
  }
  expect(() => run("sh", "test -e hit")).toThrow();
});

test("PowerShell gets the name as one literal", () => {
  const quoted = (name: string) =>
    /-LiteralPath (.*)\)\.Hash -eq/.exec(copied(name, "0".repeat(64), "PowerShell"))?.[1];
  expect(quoted('it\'s $HOME `x` "y".deb')).toBe("'it''s $HOME `x` \"y\".deb'");
  expect(quoted("typographic \u2019; calc; \u2018.deb")).toBe(
    "'typographic \u2019\u2019; calc; \u2018\u2018.deb'",
  );
  expect(quoted("-rf")).toBe("'./-rf'");
  expect(copied("a", "0".repeat(64), "PowerShell")).toMatch(/\{ 'OK' \} else \{ 'DO NOT RUN' \}$/);
});

const signatureLines = (file: string, attestation: Record<string, unknown> = { key_id: "ABCD1234" }) => {
  const release = releaseOf("26.08.002", { packages: [packageOf(3, { file, data: { attestation } })] });
  const html = textOf(releasePage(release, configOf(), templates)[0]);
  const code = elementsOf(html, "code").find(
    (each) => attributeOf(each, "data-copy") === "signature command",
  );
  return { line: code && wordsOf(code), text: wordsOf(elementsOf(html, "main")[0] as Element) };
};

test.each([
  ["it's.rpm", "rpm -Kv 'it'\\''s.rpm'"],
  ["-client.deb", "debsig-verify './-client.deb'"],
  ["client.pkg", "pkgutil --check-signature 'client.pkg'"],
  [
    "it's.msi",
    "Get-AuthenticodeSignature -LiteralPath 'it''s.msi' | Select-Object Status, {$_.SignerCertificate.Thumbprint}",
  ],
])("the signature inside %j is checked with the tool of its format and the expected key", (file, line) => {
  const shown = signatureLines(file);
  expect(shown.line).toBe(line);
  expect(shown.text).toContain("its key must be ABCD1234");
});

test("a file without a known key or without a signature inside has no such line", () => {
  expect(signatureLines("client.rpm", {}).line).toBeUndefined();
  expect(signatureLines("client.tar.xz").line).toBeUndefined();
});
