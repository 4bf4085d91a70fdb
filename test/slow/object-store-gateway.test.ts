import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openS3Store } from "../../pipeline/publish/stores/s3-store.ts";
import { bytesOf, headers, large, sparseFile, storeConformance } from "../publish/store-conformance.ts";
import { ingested } from "../publish/uploading.ts";
import { newGatewayBucket } from "../support/ceph.ts";
import { project } from "../support/project.ts";
import { relcat } from "../support/run.ts";

const patience = { silence: 30_000, attempts: 5, pause: 50 };

async function open() {
  const { place, environment } = await newGatewayBucket();
  Object.assign(process.env, environment);
  return openS3Store({ ...place, prefix: "a/prefix/" }, {}, patience);
}

describe("a bucket of a gateway", () => storeConformance(open, false));

test("needs If-Match without quotes: with quotes every replacement fails", async () => {
  const { place } = await newGatewayBucket();
  const store = await openS3Store({ ...place, unquotedEtags: false }, {}, patience);
  const first = await store.put("state", bytesOf("1"), headers);
  if (first === "changed") throw new Error("without a condition nothing is compared");
  expect(await store.put("state", bytesOf("2"), headers, { ifMatch: first.etag })).toBe("changed");
});

test("accepts uploads once, reports present and taken files, and refuses wrong keys", async () => {
  const { place, environment } = await newGatewayBucket();
  const { bucket, endpoint } = place;
  const made = project({
    "releases/catalog.yaml": {
      require: {},
      base_url: "https://downloads.example.com",
      sites: { prod: { url: `s3://${bucket}`, endpoint, region: "us-east-1", unquoted_etags: true } },
    },
    ...ingested("tool.deb", "image.qcow2"),
    "out/tool.deb": "package",
  });
  const { path, sha256 } = sparseFile(large, { 9: "x" });
  const upload = (env: Record<string, string> = environment) =>
    relcat(
      made.folder,
      ["upload", "out/tool.deb", path, "--site", "prod", "--release", "26.08.001", "--json"],
      { env },
    );
  const results = async () => {
    const { stdout, exitCode } = await upload();
    return { exitCode, files: JSON.parse(stdout).files?.map((each: { result: string }) => each.result) };
  };
  expect(await results()).toEqual({ exitCode: 0, files: ["uploaded", "uploaded"] });
  expect(await results()).toEqual({ exitCode: 0, files: ["present", "present"] });
  const store = await openS3Store(place, environment, patience);
  const image = await store.get("files/26.08.001/image.qcow2");
  expect(
    createHash("sha256")
      .update(image?.bytes ?? "")
      .digest("hex"),
  ).toBe(sha256);
  made.write("out/tool.deb", "another");
  expect(await results()).toEqual({ exitCode: 3, files: undefined });
  const { exitCode, stdout } = await upload({ ...environment, AWS_SECRET_ACCESS_KEY: "wrong" });
  expect({ exitCode, code: JSON.parse(stdout).problems[0].code }).toEqual({
    exitCode: 4,
    code: "storage-refused",
  });
});
