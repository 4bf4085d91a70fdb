import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { PrivateKey } from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import type { Inspection } from "../../inspect/inspection.ts";
import type { Keys } from "../../inspect/keys.ts";
import { inspectChart, inspectProvenance } from "../../inspect/packages/helm/helm.ts";
import { bytesOf, inspectBytes, optionsWith } from "../support/artifacts.ts";
import { clearsigned, keysWith, newKey } from "../support/openpgp.ts";
import { tar } from "../support/tar.ts";

let key: PrivateKey;
let keys: Keys;
beforeAll(async () => {
  key = await newKey();
  keys = await keysWith(key);
});

const description = "apiVersion: v2\nname: agent\nversion: 1.10";
const chart = gzipSync(
  tar({ "agent/Chart.yaml": description, "agent/charts/other/Chart.yaml": "name: other" }),
);
const sum = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const name = "agent-1.10.tgz";
const provenance = (files = `files:\n  ${name}: sha256:${sum(chart)}`) => `${description}\n...\n${files}`;

const inspect = async (text: string, file: Uint8Array | undefined = chart): Promise<Inspection> => {
  const written = Buffer.from(await clearsigned(key, text));
  return inspectBytes(
    inspectProvenance,
    written,
    optionsWith(keys, file && { [name]: file }),
    `${name}.prov`,
  );
};

const inspectAlone = (file: Uint8Array) => inspectBytes(inspectChart, file, optionsWith(keys), name);

describe("a provenance", () => {
  test("is ok with its chart next to it, and keeps the version as text", async () => {
    expect(await inspect(provenance())).toMatchObject({
      verdict: "ok",
      facts: { name: "agent", version: "1.10" },
    });
  });

  test("is refused without its chart", async () => {
    const written = Buffer.from(await clearsigned(key, provenance()));
    expect(await inspectBytes(inspectProvenance, written, optionsWith(keys), `${name}.prov`)).toMatchObject({
      verdict: "refuse",
      reason: `${name} is not next to ${name}.prov, expected the signed chart there`,
    });
  });

  const files = (...entries: string[]) =>
    provenance(["files:", ...entries.map((entry) => `  ${entry}`)].join("\n"));
  test.each([
    [
      "signs two files",
      files(`${name}: sha256:${sum(chart)}`, `other.tgz: sha256:${sum(chart)}`),
      "signs 2 files, expected one",
    ],
    ["signs no file", provenance("files: {}"), "signs 0 files, expected one"],
    ["says more than its files", `${provenance()}\nimages: {}`, "signs 1 files, expected one under"],
    [
      "has one file twice",
      files(`${name}: sha256:${sum(chart)}`, `${name}: sha256:${sum(chart)}`),
      "cannot be read",
    ],
    ["has another digest", files(`${name}: md5:${sum(chart)}`), "expected sha256:…"],
    ["has no files", description, "is not Chart.yaml, a line of three dots, and the files"],
    [
      "has three parts",
      `${provenance()}\n...\nfiles: {}`,
      "is not Chart.yaml, a line of three dots, and the files",
    ],
    ["is a list", provenance("- files"), "is not a mapping"],
    [
      "does not say what it is for",
      provenance().replace("name: agent\n", ""),
      "does not say name and version",
    ],
    [
      "has a list of names",
      provenance().replace("name: agent", "name: [agent]"),
      "does not say name and version",
    ],
    [
      "is of another version than its chart",
      provenance().replace("1.10\n", "1.11\n"),
      "the chart is agent 1.10, its provenance says agent 1.11",
    ],
  ])("is malformed if it %s", async (_, text, reason) => {
    expect(await inspect(text)).toMatchObject({
      verdict: "malformed",
      reason: expect.stringContaining(reason),
    });
  });
});

describe("a chart", () => {
  test("without provenance is unsigned, and has its name and version", async () => {
    expect(await inspectAlone(chart)).toMatchObject({
      verdict: "unsigned",
      reason: `${name}.prov is not next to it, expected its signature there`,
      facts: { name: "agent", version: "1.10" },
    });
  });

  test.each([
    ["is damaged", "bad-digest", chart.subarray(0, -9), ""],
    [
      "has no description",
      "malformed",
      gzipSync(tar({ "Chart.yaml": description })),
      "lacks Chart.yaml in a folder at its top",
    ],
    [
      "has two descriptions",
      "malformed",
      gzipSync(tar({ "a/Chart.yaml": description, "b/Chart.yaml": description })),
      "has Chart.yaml 2 times",
    ],
    [
      "has a long description",
      "malformed",
      gzipSync(tar({ "a/Chart.yaml": "#".repeat((1 << 20) + 1) })),
      "expected a file of 1048576 at most",
    ],
    [
      "describes itself in a list",
      "malformed",
      gzipSync(tar({ "a/Chart.yaml": "- agent" })),
      "Chart.yaml is not a mapping",
    ],
    ["leads out", "malformed", gzipSync(tar({ "../../Chart.yaml": description })), ""],
    ["is a bomb of aliases", "malformed", gzipSync(tar({ "a/Chart.yaml": aliases() })), "cannot be read"],
  ])("if it %s, has the verdict %s", async (_, verdict, file, reason) => {
    expect(await inspectAlone(file)).toMatchObject({ verdict, reason: expect.stringContaining(reason) });
  });

  test("is refused if it unpacks to more than the limit", async () => {
    const bomb = gzipSync(tar({ "a/zeros": "\0".repeat(1 << 20) }));
    const options = { ...optionsWith(keys), limit: 1 << 16 };
    expect(await inspectBytes(inspectChart, bomb, options, name)).toMatchObject({ verdict: "refuse" });
  });
});

test("a chart that unpacks to more than Helm accepts is refused before it is unpacked as a whole", async () => {
  const start = tar({ "a/Chart.yaml": description });
  const zeros = gzipSync(Buffer.alloc(8 << 20));
  const bomb = Buffer.concat([gzipSync(start.subarray(0, -1024)), ...Array<Buffer>(32).fill(zeros)]);
  expect(
    await inspectBytes(inspectChart, bomb, { ...optionsWith(keys), limit: 2 ** 40 }, name),
  ).toMatchObject({
    verdict: "refuse",
    reason: `${name} unpacks to more than 134217728 bytes, the limit`,
  });
});

/** Each line expands to ten of the previous one. */
function aliases(): string {
  const lines = Array.from(
    { length: 9 },
    (_, index) => `a${index + 1}: &a${index + 1} [${Array(10).fill(`*a${index}`).join(", ")}]`,
  );
  return [`a0: &a0 x`, ...lines].join("\n");
}

test("text after the signed part is ignored", async () => {
  const file = "helm/trailing/acme-1.2.3.tgz";
  const { facts, verdict } = await inspectBytes(
    inspectProvenance,
    bytesOf(`${file}.prov`),
    optionsWith(keys, { "acme-1.2.3.tgz": bytesOf(file) }),
    "acme-1.2.3.tgz.prov",
  );
  expect({ facts, verdict }).toEqual({ facts: {}, verdict: "malformed" });
});
