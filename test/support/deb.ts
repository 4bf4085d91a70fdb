import { gzipSync } from "node:zlib";
import { tar } from "./tar.ts";

export type Member = readonly [name: string, content: string | Uint8Array];

/** An ar archive. @param encoding of the names */
export function archive(members: readonly Member[], encoding: BufferEncoding = "utf8"): Buffer {
  const parts = members.flatMap(([name, content]) => {
    const size = String(content.length).padEnd(10);
    const header = `${name.padEnd(16)}${"0".padEnd(12)}${"0".padEnd(6).repeat(2)}${"100644".padEnd(8)}${size}\`\n`;
    return [header, content, "\n".repeat(content.length % 2)];
  });
  return Buffer.concat(["!<arch>\n", ...parts].map((part) => Buffer.from(part as string, encoding)));
}

export const packed = (files: Record<string, string | Uint8Array>): Buffer => gzipSync(tar(files));

/** An unsigned package with this control file and one program. */
export const debPackage = (control: string | Uint8Array): Buffer =>
  archive([
    ["debian-binary", "2.0\n"],
    ["control.tar.gz", packed({ "./control": control })],
    ["data.tar.gz", packed({ "./usr/bin/agent": "agent" })],
  ]);
