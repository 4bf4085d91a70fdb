/** A program that inspects a file and prints the result, its digest, and the number of bytes read. */
import { readFileSync } from "node:fs";
import { inspectImage } from "../../inspect/images/image.ts";
import { fileSource } from "../../pipeline/system/file-source.ts";

const bytesRead = () => Number(readFileSync("/proc/self/io", "utf8").match(/^rchar: (\d+)$/m)?.[1]);

const source = fileSource(process.argv[2] ?? "");
const before = bytesRead();
const inspection = await inspectImage(source, {
  keys: { openpgp: [], x509: [] },
  now: Date.now(),
  limit: 2 ** 36,
});
const sha256 = await source.sha256();
source.close();
process.stdout.write(JSON.stringify({ inspection, sha256, read: bytesRead() - before }));
