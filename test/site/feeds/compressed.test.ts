import { hash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import { execa } from "execa";
import { expect, test } from "vitest";
import { gzipped, xzipped } from "../../../pipeline/site/feeds/feed.ts";

/** Text like an index, long enough for several blocks: each digest occurs once, and the fields repeat. */
const sample = Buffer.from(
  Array.from({ length: 4000 }, (_, index) => {
    const digest = hash("sha256", String(index));
    return `Package: tool\nVersion: 1.${index}\nArchitecture: amd64\nSHA256: ${digest}\n`;
  }).join("\n"),
);

test("compressed indexes are the same bytes with every Node, on every machine", () => {
  const [gz, xz_] = [gzipped(sample), xzipped(sample)];
  expect(gunzipSync(gz)).toEqual(sample);
  expect(xz.decompressSync(xz_)).toEqual(sample);
  // Signed indexes name these bytes. Other digests here change each index of each site once: see decision 0040.
  expect([hash("sha256", gz), hash("sha256", xz_)]).toEqual([
    "f7e8212f525b5f889b0a6681c7f2c9737dc9f4ad22e9d4039359e7a20f3cbd72",
    "211c4b06465863d0ba9675be876611194fef1ca2cf17e79d886420b20c114169",
  ]);
});

test("without the native part for this machine the message says what to do", async () => {
  const script = `
    import { xzipped } from ${JSON.stringify(import.meta.resolve("../../../pipeline/site/feeds/feed.ts"))};
    try {
      xzipped(new Uint8Array());
    } catch (error) {
      console.log(JSON.stringify(error.problems));
    }`;
  const { stdout } = await execa(process.execPath, ["--input-type=module", "-e", script], {
    env: { NAPI_RS_NATIVE_LIBRARY_PATH: "/nowhere" },
  });
  expect(JSON.parse(stdout)).toEqual([
    {
      code: "decoder-missing",
      severity: "error",
      message: "xz files cannot be written: the part of @napi-rs/lzma for this machine is not installed",
      hint: 'Run npx -c "npm install" in the project. npm leaves that part out if its own Node is too old for it.',
    },
  ]);
});
