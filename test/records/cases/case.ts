import { client, type Files, image, installer, manifest, type Releases } from "../../support/catalog.ts";

/** One way to break the valid release, and every problem that must be reported for it. */
export interface Case {
  behaviour: string;
  /** Laid over the valid release. */
  files: Files;
  /** The output of check, with the hint on the next line. */
  problems: string[];
  /** The action that must fail with these problems; default: the check. */
  action?: (catalog: Releases) => Promise<unknown>;
}

const clientPath = "26.08.001/manifests/client.json";

export const withClient = (changes: object): Files => ({ [clientPath]: manifest([client(changes)]) });
export const withImage = (changes: object): Files => ({
  "26.08.001/manifests/image.json": manifest([image(changes)]),
});
export const withInstaller = (changes: object): Files => ({
  "26.08.001/manifests/macos.json": manifest([installer(changes)]),
});

/** A manifest in YAML, for mistakes of people. Its first artifact begins in line 3. */
export const withYaml = (...lines: string[]): Files => ({
  "26.08.001/manifests/hand.yaml": ["release: 26.08.001", "artifacts:", ...lines, ""].join("\n"),
});

export const chartLines = ["- name: extra.tgz", "  package_type: helm", `  sha256: "${"5".repeat(64)}"`];

/** Debs that replace the one with a bound, one a line from line 3, with different files, checksums and names. */
export const withDebs = (...debs: object[]): Files => ({
  [clientPath]: undefined,
  "26.08.001/manifests/debs.yaml": [
    "release: 26.08.001",
    "artifacts:",
    ...debs.map((changes, index) => {
      const sha256 = `${index + 1}`.repeat(64);
      const name = `deb-${index}.deb`;
      const deb = { name, package_type: "deb", sha256, attestation: { sha256 }, ...changes };
      return `  - ${JSON.stringify(deb)}`;
    }),
    "",
  ].join("\n"),
});
