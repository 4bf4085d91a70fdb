import type { Exchange } from "./contract.ts";

/**
 * Names of files, and the spellings with which clients ask for each. `relcat` and apt encode "+" as %2B, dnf and
 * browsers send it as it is.
 */
const spellings = {
  "acme_1.2+git5": ["acme_1.2%2Bgit5", "acme_1.2%2bgit5", "acme_1.2+git5"],
  // A host that reads a plus as a space would send this file for the one above.
  "acme_1.2 git5": ["acme_1.2%20git5"],
  "50%": ["50%25"],
  "a%2Bb": ["a%252Bb"],
  "1.0~rc1": ["1.0~rc1", "1.0%7Erc1", "1.0%7erc1"],
  "1.0^git5": ["1.0%5Egit5", "1.0%5egit5", "1.0^git5"],
  "1:1.0": ["1%3A1.0", "1%3a1.0", "1:1.0"],
  "all of !\"#$&'()*,;<=>?@[]`{|}": [encodeURIComponent("all of !\"#$&'()*,;<=>?@[]`{|}")],
} as const;

const names = Object.keys(spellings) as (keyof typeof spellings)[];

const artifact = (name: string) => `files/26.08.001/odd/${name}.bin`;
const feedFile = (name: string) => `keys/${name}.asc`;

/** Files with these names: artifacts, and files that the build lists. Each contains its name. */
export const oddArtifacts = Object.fromEntries(names.map((name) => [artifact(name), name]));
export const oddFeedFiles = Object.fromEntries(names.map((name) => [feedFile(name), name]));

/** Each spelling reaches the file with this name, and no other. */
export function pathRequests(): Exchange[] {
  const rows = (folder: string, extension: string) =>
    names.flatMap((name) =>
      spellings[name].map(
        (spelling): Exchange => ({
          part: "paths",
          name: `${folder}${spelling}`,
          path: `/${folder}${spelling}${extension}`,
          expected: { status: 200, text: name },
        }),
      ),
    );
  return [
    ...rows("files/26.08.001/odd/", ".bin"),
    ...rows("keys/", ".asc"),
    ...["/%252Erelcat-secret", "/%2568osting/nginx/nginx.conf"].map(
      (path): Exchange => ({
        part: "paths",
        name: `not what is found by decoding twice: ${path}`,
        path,
        expected: { status: 404, text: /^(?!secret|# Written)/ },
      }),
    ),
  ];
}

/** Names of the exchanges for artifacts. */
export const oddArtifactNames = pathRequests()
  .map(({ name }) => name)
  .filter((name) => name.startsWith("files/"));
