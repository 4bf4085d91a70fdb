import { createHash } from "node:crypto";
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ArtifactStore, MeasuredFile } from "../../pipeline/documents/object-store.ts";
import { temporaryFolder } from "../support/run.ts";

export const headers = { contentType: "application/json", cacheControl: "public, max-age=60" };
export const bytesOf = (text: string) => new TextEncoder().encode(text);

export interface LocalFile extends MeasuredFile {
  path: string;
}

export const headersOf = (file: MeasuredFile) => ({
  sha256: file.sha256,
  size: file.size,
  contentType: "application/octet-stream",
  cacheControl: "public, max-age=31536000, immutable",
});

/** A sparse file that is uploaded in parts. */
export function sparseFile(size: number, marks: Readonly<Record<number, string>> = {}): LocalFile {
  const path = join(temporaryFolder(), "image.qcow2");
  const descriptor = openSync(path, "w");
  ftruncateSync(descriptor, size);
  const bytes = Buffer.alloc(size);
  for (const [at, text] of Object.entries(marks)) {
    writeSync(descriptor, text, Number(at));
    bytes.write(text, Number(at));
  }
  closeSync(descriptor);
  return { path, size, sha256: createHash("sha256").update(bytes).digest("hex") };
}

export function textFile(text: string): LocalFile {
  const path = join(temporaryFolder(), "tool.deb");
  writeFileSync(path, text);
  return { path, size: Buffer.byteLength(text), sha256: createHash("sha256").update(text).digest("hex") };
}

/** Bytes of a file that is uploaded in parts. */
export const large = 70 * 1024 * 1024;

/** For a store that allows parts of a thousandth of the usual size. */
export const smallParts = { partBytes: 8 * 1024, large: 70 * 1024 };

/** Behaviour of a service that safe publishing requires. @param size of a file that is uploaded in parts */
export function storeConformance(
  open: () => Promise<ArtifactStore>,
  completesOnce: boolean,
  size = large,
): void {
  test("get returns the bytes and headers of put", async () => {
    const store = await open();
    const bytes = bytesOf('{"a":1}');
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const put = await store.put("api/v1/a b+ü.json", bytes, { ...headers, metadata: { sha256 } });
    const etag = createHash("md5").update(bytes).digest("hex");
    expect(put).toEqual({ etag });
    expect(await store.get("api/v1/a b+ü.json")).toMatchObject({ ...headers, bytes, etag });
    expect(await store.head("api/v1/a b+ü.json")).toEqual({
      ...headers,
      metadata: { sha256 },
      size: 7,
      etag,
      contentEncoding: undefined,
      sha256,
    });
  });

  test("a missing object is undefined, not an error", async () => {
    const store = await open();
    expect([await store.get("none"), await store.head("none")]).toEqual([undefined, undefined]);
    expect(await Array.fromAsync(store.list(""))).toEqual([]);
  });

  test("an empty object exists", async () => {
    const store = await open();
    await store.put("empty", new Uint8Array(), headers);
    expect((await store.get("empty"))?.bytes).toEqual(new Uint8Array());
  });

  test("if-none-match writes once", async () => {
    const store = await open();
    const once = { ifNoneMatch: "*" } as const;
    expect(await store.put("once", bytesOf("1"), headers, once)).toHaveProperty("etag");
    expect(await store.put("once", bytesOf("2"), headers, once)).toBe("changed");
    expect((await store.get("once"))?.bytes).toEqual(bytesOf("1"));
  });

  test("if-match replaces only the version that was read", async () => {
    const store = await open();
    const first = await store.put("state", bytesOf("1"), headers);
    if (first === "changed") throw new Error("without a condition nothing is compared");
    const ours = { ifMatch: first.etag };
    expect(await store.put("state", bytesOf("2"), headers, ours)).toHaveProperty("etag");
    expect(await store.put("state", bytesOf("3"), headers, ours)).toBe("changed");
    expect((await store.get("state"))?.bytes).toEqual(bytesOf("2"));
    expect(await store.put("gone", bytesOf("1"), headers, ours)).toBe("changed");
  });

  test("exactly one of ten concurrent writers succeeds", async () => {
    const store = await open();
    const start = await store.put("race", bytesOf("start"), headers);
    if (start === "changed") throw new Error("without a condition nothing is compared");
    for (const condition of [{ ifMatch: start.etag }, { ifNoneMatch: "*" as const }]) {
      const key = "ifMatch" in condition ? "race" : "new";
      const writers = Array.from({ length: 10 }, (_, index) => bytesOf(`writer ${index}`));
      const results = await Promise.all(writers.map((bytes) => store.put(key, bytes, headers, condition)));
      const winners = writers.filter((_, index) => results[index] !== "changed");
      expect(winners).toHaveLength(1);
      expect((await store.get(key))?.bytes).toEqual(winners[0]);
    }
  });

  test("a list has every key below its prefix, without removed ones", async () => {
    const store = await open();
    const keys = Array.from({ length: 30 }, (_, index) => `many/${String(index).padStart(4, "0")}`);
    for (const key of [...keys, "manner"]) await store.put(key, bytesOf(key), headers);
    const listed = await Array.fromAsync(store.list("many/"));
    expect(listed.map(({ key }) => key).sort()).toEqual(keys);
    const now = Date.now();
    expect(listed.filter(({ modified }) => Math.abs(now - modified) > 600_000)).toEqual([]);
    expect(listed[0]).toMatchObject({ key: keys[0], size: 9, etag: expect.stringMatching(/^[0-9a-f]{32}$/) });
    await store.remove([...keys.slice(1), "never there", "many/<&>\"'"]);
    expect((await Array.fromAsync(store.list(""))).map(({ key }) => key).sort()).toEqual(
      [keys[0], "manner"].sort(),
    );
    await store.remove([]);
  });

  test("a file is uploaded once: the same bytes are present then, and others are refused", async () => {
    const store = await open();
    const file = textFile("package");
    const other = textFile("another");
    expect(await store.compare("files/1/tool.deb", file)).toBe("absent");
    expect(await store.uploadFile("files/1/tool.deb", file.path, headersOf(file))).toBe("uploaded");
    expect(await store.uploadFile("files/1/tool.deb", file.path, headersOf(file))).toBe("present");
    expect(await store.compare("files/1/tool.deb", other)).toBe("other");
    await expect(store.uploadFile("files/1/tool.deb", other.path, headersOf(other))).rejects.toMatchObject({
      code: "object-taken",
      exitStatus: 3,
      message: `object-taken: ${store.place}/files/1/tool.deb has other bytes already, and an artifact's bytes never change`,
    });
    expect((await store.get("files/1/tool.deb"))?.bytes).toEqual(bytesOf("package"));
    expect(await store.head("files/1/tool.deb")).toMatchObject({
      contentType: "application/octet-stream",
      cacheControl: "public, max-age=31536000, immutable",
      sha256: file.sha256,
    });
  });

  test("an object uploaded by another tool is compared byte by byte", async () => {
    const store = await open();
    const file = textFile("package");
    await store.put("same", bytesOf("package"), headers);
    await store.put("other", bytesOf("packagf"), headers);
    expect([await store.compare("same", file), await store.compare("other", file)]).toEqual([
      "same",
      "other",
    ]);
  });

  test("a large file arrives complete in parts", async () => {
    const store = await open();
    const file = sparseFile(size, { 0: "begin", [size - 3]: "end" });
    const seen: number[] = [];
    const onProgress = (done: number) => seen.push(done);
    expect(await store.uploadFile("image", file.path, { ...headersOf(file), onProgress })).toBe("uploaded");
    expect(seen.at(-1)).toBe(size);
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
    const whole = await store.get("image");
    expect(
      createHash("sha256")
        .update(whole?.bytes ?? "")
        .digest("hex"),
    ).toBe(file.sha256);
    expect(await store.head("image")).toMatchObject({ size, sha256: file.sha256 });
    expect(await store.uploadFile("image", file.path, headersOf(file))).toBe("present");
  });

  const upload = (store: ArtifactStore, key: string, { path, ...measured }: LocalFile) =>
    store.uploadFile(key, path, headersOf(measured));

  test("two concurrent uploads of one large file both succeed", async () => {
    const store = await open();
    const file = sparseFile(size);
    expect(await Promise.all([upload(store, "same", file), upload(store, "same", file)])).toContain(
      "uploaded",
    );
    expect((await store.head("same"))?.sha256).toBe(file.sha256);
  });

  test("one of two different large files for one name is refused, and they are not mixed", async () => {
    const store = await open();
    const files = [sparseFile(size), sparseFile(size, { [size - 5]: "other" })];
    const results = await Promise.allSettled(files.map((file) => upload(store, "two", file)));
    const refused = results.filter(({ status }) => status === "rejected");
    if (completesOnce) expect(refused).toHaveLength(1);
    for (const each of refused) expect(each).toMatchObject({ reason: { code: "object-taken" } });
    const { bytes } = (await store.get("two")) ?? { bytes: "" };
    const winners = files.filter((_, index) => results[index]?.status === "fulfilled");
    expect(winners.map(({ sha256 }) => sha256)).toContain(createHash("sha256").update(bytes).digest("hex"));
  });
}
