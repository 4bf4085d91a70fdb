import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compressFile, decompressors, singleCallLimit } from "../../pipeline/site/stores/compressors.ts";
import { project } from "../support/project.ts";

/** Text that differs everywhere: any piece that is read twice or overwritten changes it. */
const digests = Array.from({ length: 140_000 }, (_, index) =>
  createHash("sha256").update(String(index)).digest("hex"),
).join("\n");

test.each(["gz", "br", "zst"] as const)(
  "a file that does not fit in one piece is compressed, %s",
  async (encoding) => {
    const { folder } = project();
    const [file, to] = [join(folder, "list.json"), join(folder, "compressed")];
    writeFileSync(file, digests);
    expect(digests.length).toBeGreaterThan(2 * singleCallLimit);
    // A failure must not disturb the file after it, which is read into the same memory.
    await expect(compressFile(file, "/dev/full", encoding)).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(compressFile(file, join(folder, "none/x"), encoding)).rejects.toMatchObject({
      code: "ENOENT",
    });
    await compressFile(file, to, encoding);
    expect(decompressors[encoding](readFileSync(to), 1e9).equals(readFileSync(file))).toBe(true);
  },
);
