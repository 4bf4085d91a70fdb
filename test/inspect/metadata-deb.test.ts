import { describe, expect, test } from "vitest";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import { readMetadata } from "../../inspect/metadata.ts";
import { archive, debPackage, type Member, packed } from "../support/deb.ts";

const read = (control: string | Uint8Array) =>
  readMetadata(bytesSource(debPackage(control), "agent.deb"), { kind: "client", filelists: false });
const paragraph = (...lines: string[]) =>
  ["Package: agent", "Version: 1:1.2.3-1", "Architecture: amd64", ...lines].join("\n");

test("the control paragraph is kept as it is, without its final line feeds", async () => {
  const control = paragraph(
    "Installed-Size:   24  ",
    "Depends: libc6 (>= 2.34),\n  adduser | other",
    "Description: ägent\n long text\n .\n \ttab\u2028and more",
    "X-Custom-1:",
  );
  expect(await read(`${control}\n\n\n`)).toEqual({ type: "deb", arch: "amd64", control });
});

test.each(["amd64", "armel", "ppc64", "loong64", "mips64el", "x32", "hurd-amd64", "musl-linux-armhf", "all"])(
  "the architecture %s has the same name",
  async (arch) => {
    expect(await read(`Package: agent\nVersion: 1\nArchitecture: ${arch}\n`)).toMatchObject({ arch });
  },
);

test("members that dpkg ignores, before and after the data, change nothing", async () => {
  const control: Member = ["control.tar.gz", packed({ "./control": `${paragraph()}\n` })];
  const data: Member = ["data.tar.gz", packed({})];
  const members: Member[] = [["debian-binary", "2.0\n"], ["_gpgbuilder", "x"], control, data, ["note", "x"]];
  const source = bytesSource(archive(members), "agent.deb");
  expect(await readMetadata(source, { kind: "client", filelists: false })).toMatchObject({
    control: paragraph(),
  });
});

describe("a control file is refused", () => {
  test.each<[string, string | Uint8Array, string]>([
    ["with a second paragraph", paragraph("", "Package: other"), 'has the line "", expected "Field: value"'],
    ["with an empty first line", `\n${paragraph()}`, 'has the line ""'],
    ["with a continuation in its first line", ` x\n${paragraph()}`, 'has the line " x"'],
    [
      "with a line of blanks, which ends a paragraph",
      paragraph("Description: a", " \t", " b"),
      'has the line " \\t"',
    ],
    ["with a field twice", paragraph("package: other"), "has package twice"],
    ["with a line that is no field", paragraph("no field"), 'has the line "no field"'],
    ["with a comment", paragraph("#Comment: x"), 'has the line "#Comment: x"'],
    ["with a name that begins with a dash", paragraph("-Field: x"), 'has the line "-Field: x"'],
    ["with a blank before the colon", paragraph("Field : x"), 'has the line "Field : x"'],
    ["with carriage returns", paragraph("Field: x\r"), 'has the control character "\\r"'],
    ["with a NUL", paragraph("Field: x\0y"), 'has the control character "\\u0000"'],
    ["with an escape", paragraph("Field: \x1b[31m"), 'has the control character "\\u001b"'],
    ["with a next line of ISO 8859", paragraph("Field: \x85"), "has the control character"],
    ["with a byte order mark", `\ufeff${paragraph()}`, 'expected "Field: value"'],
    ["without a package", "Version: 1\nArchitecture: all", "does not say Package"],
    ["without a version", "Package: agent\nVersion:\nArchitecture: all", "does not say Version"],
    ["without an architecture", "Package: agent\nVersion: 1", "does not say Architecture"],
    ["with a name of two lines", "Package: agent\n other\nVersion: 1\nArchitecture: all", "for Package"],
    [
      "with a path for a name",
      "Package: ../agent\nVersion: 1\nArchitecture: all",
      'has "../agent" for Package',
    ],
    [
      "with a blank in the version",
      "Package: agent\nVersion: 1 2\nArchitecture: all",
      'has "1 2" for Version',
    ],
    ["with two architectures", "Package: agent\nVersion: 1\nArchitecture: amd64 arm64", "for Architecture"],
    [
      "with an unknown architecture",
      "Package: agent\nVersion: 1\nArchitecture: amd46",
      'its architecture is "amd46", which dpkg does not know',
    ],
    [
      "in another encoding than UTF-8",
      Buffer.from(paragraph("Maintainer: \xe4"), "latin1"),
      "the control file is not UTF-8",
    ],
    [
      "with ten megabytes",
      paragraph(`Description: ${"x".repeat(10 << 20)}`),
      "expected a file of 1048576 at most",
    ],
    [
      "with a megabyte of blanks",
      paragraph(`Field: a${" ".repeat(1_000_000)}b`),
      "bytes as JSON, expected 262144 at most",
    ],
    ["without any field", "", 'has the line ""'],
  ])("%s", async (_, control, reason) => {
    await expect(read(control)).rejects.toThrow(reason);
  });

  test.each(["Filename", "Size", "MD5sum", "SHA1", "SHA256", "SHA512", "sha256"])(
    "with the repository's field %s",
    async (field) => {
      await expect(read(paragraph(`${field}: x`))).rejects.toThrow(
        /which only the index of a repository has$/,
      );
    },
  );
});
