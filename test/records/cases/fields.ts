import { attestation, hex, releaseDocument } from "../../support/catalog.ts";
import { type Case, withClient, withImage, withInstaller } from "./case.ts";

/** Each field of an authored document with a value that it cannot have. */
export const fieldCases: Case[] = [
  {
    behaviour: "a version with a month that does not exist is reported",
    files: { "26.08.001/release.yaml": releaseDocument({ version: "26.13.001" }) },
    problems: [
      '26.08.001/release.yaml:2:14 error[version-format] version is "26.13.001", expected a version YY.MM.NNN with a month from 01 to 12, such as 26.08.002',
    ],
  },
  {
    behaviour: "a bound that is not a month is reported",
    files: { "catalog.yaml": { require: { attestation_from: "2026-08" } } },
    problems: [
      'catalog.yaml:3:25 error[version-format] require.attestation_from is "2026-08", expected a month "YY.MM" or a version YY.MM.NNN, in quotes',
    ],
  },
  {
    behaviour: "a date that does not exist is reported",
    files: { "26.08.001/release.yaml": releaseDocument({ date: "2026-02-30" }) },
    problems: [
      '26.08.001/release.yaml:3:11 error[date-format] date is "2026-02-30", expected a calendar date YYYY-MM-DD',
    ],
  },
  {
    behaviour: "a timestamp without microseconds is reported",
    files: { "26.08.001/release.yaml": releaseDocument({ opened: "2026-08-18T07:12:44Z" }) },
    problems: [
      '26.08.001/release.yaml:4:13 error[timestamp-format] opened is "2026-08-18T07:12:44Z", expected a UTC timestamp with six decimals, such as 2026-08-19T10:22:31.123456Z',
    ],
  },
  {
    behaviour: "a name with a slash is reported",
    files: withClient({ name: "a/b.deb" }),
    problems: [
      '26.08.001/manifests/client.json:5:15 error[name-format] artifacts[0].name is "a/b.deb", expected 1 to 255 characters without slash, backslash or control characters, not . or ..',
    ],
  },
  {
    behaviour: "a file name of only dots is reported",
    files: withClient({ file: ".." }),
    problems: [
      '26.08.001/manifests/client.json:30:15 error[name-format] artifacts[0].file is "..", expected 1 to 255 characters without slash, backslash or control characters, not . or ..',
    ],
  },
  {
    behaviour: "a file name that is too long is reported",
    files: withClient({ file: "é".repeat(200) }),
    problems: [
      "26.08.001/manifests/client.json:30:15 error[name-format] the file name has 400 bytes in UTF-8, expected at most 255" +
        "\n  No file system stores it; shorten it, or give `file` apart from `name`.",
    ],
  },
  {
    behaviour: "a file name that begins with a dot is reported",
    files: withClient({ file: ".hidden.deb" }),
    problems: [
      '26.08.001/manifests/client.json:30:15 error[name-format] the file name is ".hidden.deb", expected a name that does not begin with a dot' +
        "\n  Rename it: web servers do not send such a file.",
    ],
  },
  {
    behaviour: "a name that changes the direction of text is reported",
    files: withClient({ name: "tool\u202egpj.deb" }),
    problems: [
      "26.08.001/manifests/client.json:5:15 error[name-format] name has the character U+202E, which changes the direction of text, expected none" +
        "\n  Remove it: it can disguise a file name.",
    ],
  },
  {
    behaviour: "half of a surrogate pair in text is reported",
    files: withClient({ description: "\ud83d" }),
    problems: [
      '26.08.001/manifests/client.json:30:22 error[text-format] artifacts[0].description is "\\ud83d", expected text without halves of surrogate pairs',
    ],
  },
  {
    behaviour: "a line break in a field of one line is reported",
    files: withClient({ attestation: attestation({ signature: { signer: "a\nb" } }) }),
    problems: [
      '26.08.001/manifests/client.json:14:21 error[text-format] artifacts[0].attestation.signature.signer is "a\\nb", expected one line of text, not empty and without control characters',
    ],
  },
  {
    behaviour: "a checksum in capitals is reported",
    files: withClient({ sha256: hex("A") }),
    problems: [
      '26.08.001/manifests/client.json:7:17 error[checksum-format] artifacts[0].sha256 is "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", expected 64 lowercase hexadecimal characters',
    ],
  },
  {
    behaviour: "a shortened checksum is reported as such",
    files: withClient({ sha256: "5f0c3b…" }),
    problems: [
      '26.08.001/manifests/client.json:7:17 error[checksum-format] artifacts[0].sha256 is "5f0c3b…", expected 64 lowercase hexadecimal characters' +
        "\n  It was shortened when it was shown or copied: give all of it.",
    ],
  },
  {
    behaviour: "a negative size is reported",
    files: withClient({ size: -1 }),
    problems: [
      "26.08.001/manifests/client.json:8:15 error[size-range] artifacts[0].size is -1, expected a whole number of bytes, 0 or more",
    ],
  },
  {
    behaviour: "a size with a fraction is reported",
    files: withClient({ size: 1.5 }),
    problems: [
      "26.08.001/manifests/client.json:8:15 error[size-range] artifacts[0].size is 1.5, expected a whole number of bytes below 2^53",
    ],
  },
  {
    behaviour: "a size beyond what numbers hold exactly is reported",
    files: withClient({ size: 2 ** 53 }),
    problems: [
      "26.08.001/manifests/client.json:8:15 error[size-range] artifacts[0].size is 9007199254740992, expected a whole number of bytes below 2^53",
    ],
  },
  {
    behaviour: "a size as text is reported",
    files: withClient({ size: "1000" }),
    problems: [
      '26.08.001/manifests/client.json:8:15 error[size-range] artifacts[0].size is "1000", expected a whole number of bytes',
    ],
  },
  {
    behaviour: "a URL that is not http is reported",
    files: withClient({ url: "ftp://example.com/a" }),
    problems: [
      '26.08.001/manifests/client.json:30:14 error[url-format] artifacts[0].url is "ftp://example.com/a", expected an http or https URL without credentials',
    ],
  },
  {
    behaviour: "a URL with credentials is reported",
    files: withClient({ url: "https://user:secret@example.com/a" }),
    problems: [
      '26.08.001/manifests/client.json:30:14 error[url-format] artifacts[0].url is "https://user:secret@example.com/a", expected an http or https URL without credentials',
    ],
  },
  {
    behaviour: "a URL that only looks like one is reported",
    files: withClient({ url: "https://example.com:99999/a" }),
    problems: [
      '26.08.001/manifests/client.json:30:14 error[url-format] url is "https://example.com:99999/a", expected an http or https URL' +
        "\n  Leave it out to use artifact_url of catalog.yaml.",
    ],
  },
  {
    behaviour: "an OS version with a space is reported",
    files: withClient({ min_os_version: "Ubuntu 22.04" }),
    problems: [
      '26.08.001/manifests/client.json:9:25 error[os-version-format] artifacts[0].min_os_version is "Ubuntu 22.04", expected a version of 1 to 32 letters, digits, dots, dashes, underscores, in quotes, such as "22.04"',
    ],
  },
  {
    behaviour: "a package type in capitals is reported",
    files: withClient({ package_type: "DEB" }),
    problems: [
      '26.08.001/manifests/client.json:6:23 error[package-type-format] artifacts[0].package_type is "DEB", expected 1 to 32 lowercase letters, digits and dashes, but not index, as pages are called',
    ],
  },
  {
    behaviour: "a source revision that is abbreviated is reported",
    files: withImage({ vendor: { rev: "e5f0c1a" } }),
    problems: [
      '26.08.001/manifests/image.json:14:16 error[revision-format] artifacts[0].vendor.rev is "e5f0c1a", expected 40 lowercase hexadecimal characters',
    ],
  },
  {
    behaviour: "a derivation with letters that Nix does not use is reported",
    files: withImage({ vendor: { rev: hex("e", 40), image: { derivation: hex("e", 32) } } }),
    problems: [
      '26.08.001/manifests/image.json:16:25 error[derivation-format] artifacts[0].vendor.image.derivation is "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", expected 32 characters of Nix base-32 (digits and lowercase letters without e, o, t, u)',
    ],
  },
  {
    behaviour: "a relative store path is reported",
    files: withImage({ store: { path: "result/image", size: 1 } }),
    problems: [
      '26.08.001/manifests/image.json:10:17 error[path-format] artifacts[0].store.path is "result/image", expected an absolute path',
    ],
  },
  {
    behaviour: "an empty key id is reported",
    files: withInstaller({ attestation: { key_id: "" } }),
    problems: [
      '26.08.001/manifests/macos.json:9:19 error[key-id-format] artifacts[0].attestation.key_id is "", expected 1 to 255 characters',
    ],
  },
  {
    behaviour: "a key id that is not of its package type is reported",
    files: withClient({ attestation: attestation({ key_id: hex("a", 16) }) }),
    problems: [
      '26.08.001/manifests/client.json:11:19 error[key-id-format] attestation.key_id is "aaaaaaaaaaaaaaaa", expected 40 lowercase hexadecimal characters for a deb' +
        "\n  Take it from the package's own signature.",
    ],
  },
  {
    behaviour: "a self-check hash in small letters is reported",
    files: withClient({ attestation: attestation({ cryptolib_post: { expected_hash: hex("b") } }) }),
    problems: [
      '26.08.001/manifests/client.json:19:28 error[hash-format] artifacts[0].attestation.cryptolib_post.expected_hash is "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", expected 64 uppercase hexadecimal characters',
    ],
  },
  {
    behaviour: "a fingerprint per architecture that is not hexadecimal is reported",
    files: withInstaller({
      attestation: {
        file_signatures: [
          { name: "tool", signature: { fingerprint_per_arch: { arm64: "xyz", x86_64: "bb" } } },
        ],
      },
    }),
    problems: [
      '26.08.001/manifests/macos.json:14:26 error[hash-format] artifacts[0].attestation.file_signatures[0].signature.fingerprint_per_arch.arm64 is "xyz", expected hexadecimal characters',
    ],
  },
  {
    behaviour: "a third architecture is reported",
    files: withInstaller({
      attestation: {
        cryptolib_post: { expected_hash_per_arch: { arm64: hex("C"), x86_64: hex("D"), riscv: hex("E") } },
      },
    }),
    problems: [
      '26.08.001/manifests/macos.json:13:13 error[unknown-key] the key "riscv" is not known in artifacts[0].attestation.cryptolib_post.expected_hash_per_arch' +
        "\n  Known keys: arm64, x86_64.",
    ],
  },
  {
    behaviour: "an account that is a list is reported",
    files: withClient({ only_for_account: [] }),
    problems: [
      "26.08.001/manifests/client.json:30:27 error[account-format] artifacts[0].only_for_account is a list, expected null, a non-empty text or a whole number",
    ],
  },
  {
    behaviour: "an empty account is reported, and not read as public",
    files: withClient({ only_for_account: "" }),
    problems: [
      '26.08.001/manifests/client.json:30:27 error[text-format] artifacts[0].only_for_account is "", expected one line of text, not empty and without control characters',
    ],
  },
  {
    behaviour: "a kind of artifact that does not exist is reported",
    files: { "catalog.yaml": { require: { store: ["images"] } } },
    problems: [
      'catalog.yaml:4:7 error[option-value] require.store[0] is "images", expected one of client, image, chart',
    ],
  },
];
