import { describe, expect, test } from "vitest";
import { inspectPkg } from "../../inspect/packages/pkg/pkg.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { allowing, identity } from "../support/certificates.ts";
import { installer, type Wishes, type XarFile, xar } from "../support/xar.ts";

const root = identity("Root", { isCa: true });
const signer = identity("Signer", { issuer: root, kind: "rsa" });

const made = (wishes: Wishes = {}, files: readonly XarFile[] = installer([])) =>
  xar(files, { rsa: signer, cms: signer, ...wishes });
const verdict = async (bytes: Uint8Array) => {
  const { verdict, reason } = await inspectBytes(inspectPkg, bytes, optionsWith(allowing(root)), "acme.pkg");
  return `${verdict}: ${reason}`;
};

describe("an installer is malformed if", () => {
  const toc = (text: string | RegExp, by: string) => made({ toc: (xml) => xml.replace(text, by) });
  test.each<[string, Buffer, string | RegExp]>([
    ["it is none", Buffer.alloc(100), /has no header of xar, version 1/],
    [
      "its header is longer",
      made({ header: (header) => void header.writeUInt16BE(32, 4) }),
      /has no header of xar/,
    ],
    [
      "its header names an unknown hash",
      made({ header: (header) => void header.writeUInt32BE(9, 24) }),
      /has no header of xar/,
    ],
    [
      "its header names another hash",
      made({ header: (header) => void header.writeUInt32BE(1, 24) }),
      /checksum elsewhere than first in the heap, or of another kind/,
    ],
    [
      "its table is gigantic",
      made({ header: (header) => void header.writeBigUInt64BE(1n << 40n, 16) }),
      "malformed: the table of contents has 1099511627776 bytes, expected 4194304 at most",
    ],
    [
      "its table is beyond its end",
      made({ header: (header) => void header.writeBigUInt64BE(4_000_000n, 8) }),
      /^malformed: acme.pkg ends at byte/,
    ],
    [
      "its table is longer than announced",
      made({ header: (header) => void header.writeBigUInt64BE(100n, 16) }),
      /^bad-digest: the table of contents cannot be unpacked/,
    ],
    [
      "its table is shorter than announced",
      made({ header: (header) => void header.writeBigUInt64BE(100_000n, 16) }),
      "malformed: the table of contents does not unpack to the 100000 bytes that are announced",
    ],
    ["its table is no XML", toc("<xar>", "<xar><"), /^malformed: the table of contents is not XML/],
    [
      "its table is something else",
      toc(/xar>/g, "rax>"),
      "malformed: the table of contents has no element xar",
    ],
    [
      "its table has a document type",
      toc("<xar>", '<!DOCTYPE a [<!ENTITY b "c">]><xar>'),
      "malformed: the table of contents has a document type, expected none",
    ],
    [
      "its table has a control character",
      toc("<toc>", "<toc>\u0001"),
      "malformed: the table of contents is not XML: 1:49: disallowed character",
    ],
    [
      "a name is encoded",
      toc("<name>Payload</name>", '<name enctype="base64">UGF5bG9hZA==</name>'),
      'malformed: the table of contents has a name with the encoding "base64", expected text',
    ],
    ...["toc", "checksum", "name", "data", "offset", "size", "length", "archived-checksum", "encoding"].map(
      (name): [string, Buffer, string] => [
        `an element has two elements ${name}`,
        toc(new RegExp(`<${name}(?: [^>]*)?(?:/>|(?<!/)>.*?</${name}>)`), "$&$&"),
        `malformed: the table of contents has an element with several ${name}, expected one at most`,
      ],
    ),
    [
      "its table is nested without end",
      toc("</toc>", `${"<a>".repeat(5000)}${"</a>".repeat(5000)}</toc>`),
      /^malformed: the table of contents is not XML/,
    ],
    [
      "its checksum is elsewhere",
      toc("<offset>0</offset>", "<offset>1</offset>"),
      /checksum elsewhere than first in the heap/,
    ],
    [
      "its checksum is of another kind",
      toc('checksum style="sha256"', 'checksum style="sha1"'),
      /of another kind than the header says$/,
    ],
    ["its checksum is of another size", toc("<size>32</size>", "<size>20</size>"), /checksum elsewhere/],
    [
      "a number is none",
      toc("<offset>32</offset>", "<offset>-32</offset>"),
      'malformed: the table of contents has "-32" for offset, expected a number',
    ],
    [
      "a number is gigantic",
      toc("<offset>32</offset>", "<offset>99999999999999999999</offset>"),
      /for offset, expected a number$/,
    ],
    [
      "parts overlap",
      toc("<offset>288</offset>", "<offset>287</offset>"),
      "malformed: the table of contents has parts that overlap at byte 287 of the heap",
    ],
    [
      "a file is beyond its end",
      toc(/(<offset>)(\d+)(<\/offset><length>\d+<\/length><\/data><\/file><\/file><\/toc>)/, "$1900000$3"),
      /^malformed: the table of contents has a part up to byte 9\d+ of the heap/,
    ],
    [
      "a file has no checksum",
      toc(/<archived-checksum.*?<\/archived-checksum>/, ""),
      'malformed: the table of contents has a file without a checksum, or with ""',
    ],
    [
      "a file has an unknown checksum",
      toc('archived-checksum style="sha256"', 'archived-checksum style="crc32"'),
      'malformed: the table of contents has a file without a checksum, or with "crc32"',
    ],
    [
      "a name leads out",
      toc("<name>Distribution</name>", "<name>../Distribution</name>"),
      'malformed: the table of contents has a file called "../Distribution"',
    ],
    [
      "a description has no content",
      made({}, [{ path: "acme.pkg/PackageInfo", content: Buffer.alloc(0), data: "" }]),
      "malformed: acme.pkg/PackageInfo has no content",
    ],
    [
      "a file has no name",
      toc("<name>Distribution</name>", ""),
      'malformed: the table of contents has a file called ""',
    ],
  ])("%s", async (_, bytes, expected) => {
    expect(await verdict(bytes)).toMatch(expected);
  });
});
