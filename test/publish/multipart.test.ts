import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ArtifactStore } from "../../pipeline/documents/object-store.ts";
import { partSizeOf } from "../../pipeline/publish/stores/s3-parts.ts";
import { openS3Store } from "../../pipeline/publish/stores/s3-store.ts";
import { RelcatError } from "../../shared/errors.ts";
import { type Fault, type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { headersOf, type LocalFile, smallParts, sparseFile } from "./store-conformance.ts";

const { partBytes, large } = smallParts;

let fake: S3Fake;
let file: LocalFile;
let count: number;
beforeAll(async () => {
  fake = await startS3Fake();
  fake.bucket.minPartBytes = partBytes;
  Object.assign(process.env, fake.environment);
  file = sparseFile(large, { 0: "image", [large - 9]: "of a disk" });
  count = Math.ceil(large / partSizeOf(file, partBytes));
});
afterAll(() => fake.stop());

let keys = 0;
const newKey = () => `files/image-${++keys}`;
const open = () => openS3Store(fake.place, {}, { silence: 10_000, attempts: 3, pause: 1 }, partBytes);
const upload = (store: ArtifactStore, key: string, { path, ...measured }: LocalFile = file) =>
  store.uploadFile(key, path, headersOf(measured));

const digestAt = (key: string) =>
  createHash("sha256")
    .update(fake.bucket.objects.get(key)?.bytes ?? "")
    .digest("hex");
const partsSent = (key: string) =>
  fake.log.filter((each) => each.key === key && each.operation === "UploadPart" && each.status === 200);

/** Uploads of a key that were neither completed nor aborted. A count, because the diff of their parts would not fit in memory. */
const unfinished = (key: string): number =>
  [...fake.bucket.uploads.values()].filter((each) => each.key === key).length;

/** Ends an upload as if its process had been killed: later requests fail. */
async function broken(key: string, parts: number, which: LocalFile = file): Promise<void> {
  let sent = 0;
  fake.fault = ({ operation }) => (operation === "UploadPart" && ++sent > parts ? "reset" : undefined);
  await expect(upload(await open(), key, which)).rejects.toMatchObject({ code: "network" });
  fake.fault = () => undefined;
}

const calls = ["ListMultipartUploads", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload"];
const faults: readonly Fault[] = [{ status: 500, code: "InternalError" }, "reset", "reset after"];
describe.each(calls)("%s", (call) => {
  test.each(faults)("is repeated after the single fault %j, and the file is complete", async (fault) => {
    const key = newKey();
    let isHit = false;
    fake.fault = ({ operation }) => {
      if (operation !== call || isHit) return undefined;
      isHit = true;
      return fault;
    };
    expect(await upload(await open(), key)).toBe("uploaded");
    fake.fault = () => undefined;
    expect({ isHit, digest: digestAt(key) }).toEqual({ isHit: true, digest: file.sha256 });
  });

  test("leaves nothing under the name after a permanent fault, and reports the reason", async () => {
    const key = newKey();
    fake.fault = ({ operation }) => (operation === call ? { status: 503, code: "SlowDown" } : undefined);
    await expect(upload(await open(), key)).rejects.toMatchObject({
      code: "network",
      problems: [
        {
          message: `s3://site/${key} cannot be ${call.startsWith("List") ? "listed" : "written"}: the service answered 503 SlowDown, SlowDown was asked for. (3 tries)`,
          hint: "Check the network and the service, then run the command again: what has arrived is not sent again.",
        },
      ],
    });
    fake.fault = () => undefined;
    expect(fake.bucket.objects.has(key)).toBe(false);
  });
});

test("parts of an earlier try are not sent again", async () => {
  const key = newKey();
  await broken(key, 3);
  const before = partsSent(key).length;
  expect(before).toBe(3);
  expect(await upload(await open(), key)).toBe("uploaded");
  expect(partsSent(key).length).toBe(count);
  expect(digestAt(key)).toBe(file.sha256);
  expect(unfinished(key)).toBe(0);
});

test("an unfinished upload is found on a later page of the list, to continue it and to remove it", async () => {
  const key = newKey();
  // Uploads of other files whose names begin in the same way.
  for (const name of ["a", "b"]) await broken(`${key}-${name}`, 1);
  await broken(key, 3);
  expect(await upload(await open(), key)).toBe("uploaded");
  expect(partsSent(key).length).toBe(count);
  await broken(newKey(), 1);
  await (await open()).removeLeftovers([...fake.bucket.uploads.values()].map((each) => each.key));
  expect(fake.bucket.uploads.size).toBe(0);
});

test("a part that was damaged meanwhile is sent again", async () => {
  const key = newKey();
  await broken(key, 2);
  const [begun] = [...fake.bucket.uploads.values()].filter((each) => each.key === key);
  const [number, part] = [...(begun?.parts ?? [])][0] ?? [0, { bytes: Buffer.alloc(0) }];
  const bytes = Buffer.from(part.bytes).fill("x", 0, 1);
  begun?.parts.set(number, { bytes, etag: createHash("md5").update(bytes).digest("hex") });
  expect(await upload(await open(), key)).toBe("uploaded");
  expect(digestAt(key)).toBe(file.sha256);
});

test("an unfinished upload of other bytes with the same beginning is not continued", async () => {
  const key = newKey();
  const other = sparseFile(large, { 0: "image", [large - 9]: "of others" });
  await broken(key, 1, other);
  const before = partsSent(key).length;
  expect(await upload(await open(), key)).toBe("uploaded");
  expect(partsSent(key).length - before).toBe(count);
  expect(digestAt(key)).toBe(file.sha256);
  expect(fake.bucket.objects.get(key)?.headers["x-amz-meta-sha256"]).toBe(file.sha256);
  // upload-artifacts.ts calls it after the last file.
  await (await open()).removeLeftovers([key]);
  expect(unfinished(key)).toBe(0);
});

test("a new upload is started without permission to list uploads", async () => {
  const key = newKey();
  await broken(key, 2);
  fake.fault = ({ operation }) =>
    operation === "ListMultipartUploads" ? { status: 403, code: "AccessDenied" } : undefined;
  expect(await upload(await open(), key)).toBe("uploaded");
  fake.fault = () => undefined;
  expect(partsSent(key).length).toBe(count + 2);
});

test("a file that changes during its upload never gets its name, and leaves nothing", async () => {
  const key = newKey();
  const changing = sparseFile(large, { 5: "before" });
  fake.before = ({ operation }) => {
    if (operation === "CreateMultipartUpload") writeFileSync(changing.path, "after", { flag: "r+" });
  };
  const failed = await upload(await open(), key, changing).catch((error: unknown) => error);
  fake.before = () => {};
  expect(failed).toBeInstanceOf(RelcatError);
  expect(failed).toMatchObject({
    code: "file-changed",
    problems: [
      {
        message: `${changing.path} was changed while it was uploaded: it no longer has SHA-256 ${changing.sha256}`,
        hint: "Wait until the build has finished, then run the command again.",
      },
    ],
  });
  expect(fake.bucket.objects.has(key)).toBe(false);
  expect(unfinished(key)).toBe(0);
});

test("a faster upload by another client is detected at the end, with the same bytes or with others", async () => {
  for (const [content, expected] of [
    ["", "present"],
    ["other bytes", "object-taken"],
  ]) {
    const key = newKey();
    const stored = { bytes: Buffer.from(content ?? ""), etag: "e" };
    fake.before = ({ operation }) => {
      if (operation !== "CompleteMultipartUpload") return;
      const sha256 = content === "" ? file.sha256 : createHash("sha256").update(stored.bytes).digest("hex");
      fake.bucket.objects.set(key, { ...stored, headers: { "x-amz-meta-sha256": sha256 } });
    };
    const result = await upload(await open(), key).catch((error: RelcatError) => error.code);
    fake.before = () => {};
    expect(result).toBe(expected);
    expect(fake.bucket.objects.get(key)?.bytes.equals(stored.bytes)).toBe(true);
  }
});

test("an upload to a service that ignores conditions replaces nothing", async () => {
  const key = newKey();
  const stored = { bytes: Buffer.from("other"), etag: "e", headers: { "x-amz-meta-sha256": "0".repeat(64) } };
  fake.bucket.completesAlways = true;
  fake.after = ({ operation }) => {
    if (operation === "UploadPart") fake.bucket.objects.set(key, stored);
  };
  await expect(upload(await open(), key)).rejects.toMatchObject({ code: "object-taken" });
  fake.bucket.completesAlways = false;
  fake.after = () => {};
  expect(fake.bucket.objects.get(key) === stored).toBe(true);
});

test("part sizes stay within the limits of services, for any size and digest", () => {
  const tebibyte = 2 ** 40;
  for (const sha256 of ["0".repeat(64), "f".repeat(64)]) {
    for (const size of [70 * 2 ** 20, 80 * 2 ** 30, 5 * tebibyte]) {
      const part = partSizeOf({ size, sha256 });
      expect(part).toBeGreaterThanOrEqual(5 * 2 ** 20);
      expect(Math.ceil(size / part)).toBeLessThanOrEqual(10_000);
    }
  }
});
