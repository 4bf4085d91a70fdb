import { cpSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/run.ts";
import { onlineKey, type SignedProject, signedProject } from "../trust/support.ts";
import { copyOf, described, Forger, keyOf, signedBy, verify } from "./support.ts";

describe("verify refuses keys", () => {
  let full: SignedProject;
  beforeAll(async () => {
    full = await signedProject("full", new Date().toISOString());
    await full.sign();
  });
  /** Adds a second root. */
  const withRoot = async (make: (signed: ReturnType<Forger["read"]>) => object, version = 2) => {
    const folder = copyOf(full.dist);
    const forger = new Forger(folder, full);
    const document = make({ ...forger.read("root"), version });
    writeFileSync(forger.file("root", 2), `${JSON.stringify(document)}\n`);
    const { exitCode, text } = await verify(full, [folder]);
    return `${exitCode} ${text}`;
  };
  const root = (number: number) => keyOf(full, `root-${number}`);

  test("if only one of two signs", async () => {
    expect(await withRoot((signed) => signedBy(signed, [root(1)]))).toMatch(
      /^6 .*2\.root\.json \(role root\) is refused: it has 1 of the 2 signatures it needs/s,
    );
    expect(await withRoot((signed) => signedBy(signed, [root(1), root(3)]))).toMatch(/^0 Verified/);
  });

  test("with two signatures of one, or two names of one", async () => {
    expect(await withRoot((signed) => signedBy(signed, [root(1), root(1)]))).toMatch(
      /^6 .*\(role root\) is refused: it has two signatures by one key/s,
    );
    const doubled = await withRoot((signed) => {
      const twin = { ...root(1), id: "a".repeat(64) };
      signed.keys[twin.id] = described(twin);
      signed.roles.root.keyids.push(twin.id);
      return signedBy(signed, [root(1), root(2), twin]);
    });
    expect(doubled).toMatch(/^6 .*\(role root\) gives root the same key under two names/s);
    const twice = await withRoot((signed) => {
      signed.roles.timestamp.keyids.push(signed.roles.timestamp.keyids[0]);
      return { signatures: [], signed };
    }).catch(String);
    expect(twice).toMatch(/names one key twice/);
  });

  test("with a root that skips a version", async () => {
    expect(await withRoot((signed) => signedBy(signed, [root(1), root(2)]), 3)).toMatch(
      /^6 .*2\.root\.json \(role root\) is refused: it has version 3, expected 2/s,
    );
  });

  test("with a root that only its own new keys signed", { tags: ["long"] }, async () => {
    const stranger = keyOf(await signedProject(), "root");
    const said = await withRoot((signed) => {
      signed.keys[stranger.id] = described(stranger);
      signed.roles.root = { keyids: [stranger.id], threshold: 1 };
      return signedBy(signed, [stranger]);
    });
    expect(said).toMatch(/^6 .*\(role root\) is refused: it has 0 of the 2 signatures/s);
  });
});

test("versions that an attacker raised are forgotten after the online key is rotated", {
  tags: ["long"],
}, async () => {
  const own = await signedProject("simple", new Date().toISOString());
  await own.sign();
  const place = copyOf(own.dist);
  const state = temporaryFolder();
  const thief = new Forger(place, own);
  thief.snapshot((signed) => {
    signed.version = 2_000_000_000;
  });
  thief.timestamp((signed) => {
    signed.version = 2_000_000_000;
  });
  expect((await verify(own, [place], state)).exitCode).toBe(0);
  const rotated = await own.relcat(["trust", "rotate", "online", "--keys", own.keys]);
  expect(rotated.exitCode, rotated.stderr).toBe(0);
  const signed = await own.relcat(["sign"], onlineKey(own.keys, "online-v2.pem"));
  expect(signed.exitCode, signed.stderr).toBe(0);
  cpSync(own.dist, place, { recursive: true });
  const recovered = await verify(own, [place], state);
  expect(recovered.text).toContain("Verified");
});
