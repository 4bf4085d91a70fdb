import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readKeys } from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { feedKey, fingerprintOf, writeFeedKeys } from "../../support/feed-keys.ts";
import { artifact, type Project, project, release } from "../../support/project.ts";

type Key = Awaited<ReturnType<typeof feedKey>>;

const catalog = (feeds: object) => ({ product: "Acme Ümlaut 2", require: {}, trust: "simple", feeds });

function withFeeds(feeds: object): Project {
  return project({
    "releases/catalog.yaml": catalog(feeds),
    ...release("26.08.001", [artifact("tool.rpm", "rpm")]),
  });
}

/** Fingerprints in a file of certificates, in its order. */
async function keysIn({ folder }: Project, path: string): Promise<string[]> {
  const armoredKeys = readFileSync(join(folder, "dist", path), "utf8");
  expect(armoredKeys.match(/BEGIN/g)).toHaveLength(1);
  return (await readKeys({ armoredKeys })).map((key) => key.getFingerprint().toUpperCase());
}

describe("certificates of a site with package repositories", () => {
  let oldest: Key;
  let signing: Key;
  let announced: Key;
  beforeAll(async () => {
    [oldest, signing, announced] = [await feedKey(), await feedKey(), await feedKey()];
  });

  test("all that are not retired are in one armored block, and each in a file of its own", async () => {
    const at = withFeeds({ yum: {} });
    writeFeedKeys(at.folder, [
      { key: oldest, state: "retired" },
      { key: signing, state: "signing" },
      { key: announced, state: "announced" },
    ]);
    await at.succeed("build");
    const offered = [signing, announced].map(fingerprintOf);
    expect(await keysIn(at, "keys/acme-mlaut-2.asc")).toEqual(offered);
    for (const fingerprint of offered)
      expect(await keysIn(at, `keys/${fingerprint}.asc`)).toEqual([fingerprint]);
    expect(existsSync(join(at.folder, `dist/keys/${fingerprintOf(oldest)}.asc`))).toBe(false);
  });

  test("a new key is in the next build, and a key that is retired is not", async () => {
    const at = withFeeds({ apt: {} });
    writeFeedKeys(at.folder, [{ key: oldest, state: "signing" }]);
    await at.succeed("build");
    writeFeedKeys(at.folder, [
      { key: oldest, state: "signing" },
      { key: announced, state: "announced" },
    ]);
    await at.succeed("build");
    expect(await keysIn(at, "keys/acme-mlaut-2.asc")).toEqual([oldest, announced].map(fingerprintOf));
    writeFeedKeys(at.folder, [
      { key: oldest, state: "retired" },
      { key: announced, state: "signing" },
    ]);
    await at.succeed("build");
    expect(at.list("dist/keys")).toEqual([`${fingerprintOf(announced)}.asc`, "acme-mlaut-2.asc"].sort());
  });

  test("a site without such repositories has none", async () => {
    const at = withFeeds({});
    writeFeedKeys(at.folder, [{ key: oldest, state: "signing" }]);
    await at.succeed("build");
    expect(existsSync(join(at.folder, "dist/keys"))).toBe(false);
  });

  test("headers and comments of another program's armor are left out", async () => {
    const at = withFeeds({ yum: {} });
    writeFeedKeys(at.folder, [{ key: oldest, state: "signing" }]);
    await at.succeed("build");
    const path = `keys/${fingerprintOf(oldest)}.asc`;
    const plain = at.read(`dist/${path}`);
    const file = join(at.folder, `releases/trust/openpgp/${fingerprintOf(oldest)}.asc`);
    const text = readFileSync(file, "utf8")
      .replace(/\n\n/, "\nComment: by hand\n\n")
      .replaceAll("\n", "\r\n");
    writeFileSync(file, text);
    await at.succeed("build");
    expect(at.read(`dist/${path}`)).toBe(plain);
  });

  const file = () => `releases/trust/openpgp/${fingerprintOf(oldest)}.asc`;
  const where = "releases/trust/openpgp/keys.json:5:22";
  test.each<[string, (at: Project) => void, () => string]>([
    [
      "a missing certificate",
      ({ folder }) => rmSync(join(folder, file())),
      () => `has no certificate, expected it in ${file().slice("releases/".length)}`,
    ],
    [
      "a private key",
      (at) => at.write(file(), oldest.armor()),
      () =>
        `has a private key in ${file().slice("releases/".length)}, which would become public, expected the certificate alone`,
    ],
    [
      "another file",
      (at) => at.write(file(), "no certificate\n"),
      () => `has no certificate in ${file().slice("releases/".length)}, expected one block in ASCII armor`,
    ],
  ])("%s is an error with its place", async (_, change, message) => {
    const at = withFeeds({ yum: {} });
    writeFeedKeys(at.folder, [{ key: oldest, state: "signing" }]);
    change(at);
    const { exitCode, stdout } = await at.run("check");
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      `${where} error[feed-key] the OpenPGP key ${fingerprintOf(oldest)} ${message()}\n`,
    );
    expect(stdout).toContain("gpg --armor --export");
  });

  test("a key that is listed twice, and an unknown state, are errors with their places", async () => {
    const at = withFeeds({ yum: {} });
    writeFeedKeys(at.folder, [
      { key: oldest, state: "signing" },
      { key: oldest, state: "announced" },
    ]);
    expect((await at.run("check")).stdout).toContain(
      `releases/trust/openpgp/keys.json:10:22 error[feed-key] the OpenPGP key ${fingerprintOf(oldest)} is listed twice`,
    );
    at.write("releases/trust/openpgp/keys.json", {
      schema_version: 1,
      keys: [{ fingerprint: "ab", state: "lost", since: "yesterday" }],
    });
    const { stdout } = await at.run("check");
    for (const text of [
      "error[key-id-format]",
      "expected 40 uppercase hexadecimal characters",
      "error[option-value]",
      "expected one of announced, signing, retired",
      "error[timestamp-format]",
    ])
      expect(stdout).toContain(text);
  });

  test("another file in the folder, and a certificate that is not listed, are reported", async () => {
    const at = withFeeds({ yum: {} });
    writeFeedKeys(at.folder, []);
    at.write("releases/trust/openpgp/secret.pem", "x");
    at.write(file(), oldest.toPublic().armor());
    const { stdout } = await at.run("check");
    expect(stdout).toMatch(
      /trust\/openpgp\/secret\.pem error\[file-unexpected\] .* trust\/openpgp\/FINGERPRINT\.asc/,
    );
    expect(stdout).toContain(
      `${file()} error[feed-key] the certificate is not in keys.json, expected it there with its state`,
    );
  });
});
