import { createHash } from "node:crypto";
import { yumFolder } from "../../documents/feeds/paths.ts";
import { mirrorlistPath, mirrorlistText, repomdPath } from "../../documents/feeds/signing.ts";
import type { OutputFile } from "../../documents/published.ts";
import { textFile } from "../output.ts";
import { gzipped } from "./compressed.ts";
import { element, parent } from "./yum-xml.ts";

/** An index of a repository, such as primary.xml. */
export interface YumIndex {
  type: "primary" | "filelists" | "other" | "updateinfo";
  xml: string;
}

/** @param packages elements `package` */
export const primaryIndex = (packages: readonly string[]): YumIndex => ({
  type: "primary",
  xml: documentOf("metadata", packages, {
    xmlns: namespace("common"),
    "xmlns:rpm": namespace("rpm"),
    packages: packages.length,
  }),
});

/** @param packages elements `package` */
export const filelistsIndex = (packages: readonly string[]): YumIndex => ({
  type: "filelists",
  xml: documentOf("filelists", packages, { xmlns: namespace("filelists"), packages: packages.length }),
});

/** @param packages elements `package` */
export const otherIndex = (packages: readonly string[]): YumIndex => ({
  type: "other",
  xml: documentOf("otherdata", packages, { xmlns: namespace("other"), packages: packages.length }),
});

/** @param updates elements `update` */
export const updateinfoIndex = (updates: readonly string[]): YumIndex => ({
  type: "updateinfo",
  xml: documentOf("updates", updates, {}),
});

/** The folder `repodata` of a repository, indexes first. */
export interface Repodata {
  indexes: OutputFile[];
  repomd: string;
}

/**
 * The tag with the repository's name keeps the folders of equal repositories apart.
 * @param time of the repository's newest change, in seconds since 1970
 */
export function repodataOf(repo: string, indexes: readonly YumIndex[], time: number): Repodata {
  const data: string[] = [];
  const files = indexes.map(({ type, xml }) => {
    const open = encoder.encode(xml);
    const bytes = gzipped(open);
    const href = `repodata/${sha256(bytes)}-${type}.xml.gz`;
    data.push(
      parent("data", { type }, [
        element("checksum", { type: "sha256" }, sha256(bytes)),
        element("open-checksum", { type: "sha256" }, sha256(open)),
        element("location", { href }),
        element("timestamp", {}, String(time)),
        element("size", {}, String(bytes.length)),
        element("open-size", {}, String(open.length)),
      ]),
    );
    return { path: href, chunks: [bytes] };
  });
  const head = [element("revision", {}, String(time)), parent("tags", {}, [element("content", {}, repo)])];
  const names = { xmlns: namespace("repo"), "xmlns:rpm": namespace("rpm") };
  return { indexes: files, repomd: documentOf("repomd", [...head, ...data], names) };
}

/** The copy of a repository for clients that know no mirrorlist. `sign` adds the signature, and makes the folder. */
export function* repositoryFiles(repo: string, { indexes, repomd }: Repodata): Generator<OutputFile> {
  for (const { path, chunks } of indexes) yield { path: `yum/${repo}/${path}`, chunks };
  yield textFile(repomdPath(repo), repomd);
}

/** The folder that never changes, and the mirrorlist that names it, if nothing is signed. */
export function* unsignedFolder(
  repo: string,
  { indexes, repomd }: Repodata,
  baseUrl: string,
): Generator<OutputFile> {
  const folder = yumFolder(sha256(encoder.encode(repomd)));
  for (const { path, chunks } of indexes)
    yield { path: `${folder}/${path}`, chunks, sameAs: `yum/${repo}/${path}` };
  yield textFile(`${folder}/repodata/repomd.xml`, repomd);
  yield textFile(mirrorlistPath(repo), mirrorlistText(baseUrl, folder));
}

const namespace = (name: string): string => `http://linux.duke.edu/metadata/${name}`;

const documentOf = (
  name: string,
  children: readonly string[],
  attributes: Readonly<Record<string, string | number>>,
): string => `<?xml version="1.0" encoding="UTF-8"?>\n${parent(name, attributes, children)}\n`;

const encoder = new TextEncoder();
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
