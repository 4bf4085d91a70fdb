import { failure } from "../../shared/errors.ts";
import { relativePath } from "../documents/relative-path.ts";
import type { BuildDocument } from "../documents/site.ts";
import type { FileBytes, PublicFile } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { readIfPresent } from "../system/files.ts";
import { rootFolder } from "../system/root-folder.ts";
import { readBuild } from "../trust/built-site.ts";
import { sha256 } from "../trust/metadata.ts";
import { readSignedList, type SignedList, signedList } from "../trust/sign-site.ts";
import { isHosting, publicFiles, sourceOf, withFolderAddresses } from "../trust/site-files.ts";

/** A completely verified build folder. */
export interface LocalBuild {
  folder: string;
  id: string;
  document: BuildDocument;
  /** SHA-256 of the list of signed files; null: not signed. */
  signed: string | null;
  files: PublicFile[];
  /** Configuration files for web servers. */
  hosting: FileBytes[];
  /** Verifies the file again when reading. @throws RelcatError build-changed */
  read(path: string): Uint8Array;
}

/** @throws RelcatError folder-missing; build-changed, naming the first file that is not as it was built or signed */
export function readLocal(folder: string, site: SiteSettings): LocalBuild {
  const { document, bytes: buildBytes } = readBuild(folder);
  const id = sha256(buildBytes);
  const list = readSignedList(folder);
  const at = rootFolder(folder);
  const listBytes = list?.build === id ? readIfPresent(at(relativePath(signedList))) : undefined;
  const known: SignedList["files"] = {
    ...document.files,
    ...(listBytes && list?.files),
    "build.json": { sha256: id, size: buildBytes.length },
  };
  const checked = (path: string) => {
    const source = sourceOf(path);
    const bytes = readIfPresent(at(relativePath(source)));
    if (bytes && sha256(bytes) === known[source]?.sha256) return bytes;
    throw failure(
      "build-changed",
      `${folder}/${source} is not what was built or signed`,
      "Build and sign again: relcat build --released, then relcat sign",
    );
  };
  // A bucket has no web server configuration, and also stores documents at the addresses of their folders.
  const isBucket = site.place.kind === "s3";
  for (const path of Object.keys(known)) if (!isBucket || !isHosting(path)) checked(path);
  const { copies = {}, provisional } = document;
  const copied = Object.entries(copies).flatMap(([path, copy]) =>
    publicFiles({ [path]: copy }, provisional).map((file) => ({ ...file, from: copy.from })),
  );
  const files = [...publicFiles(known, provisional), ...copied];
  return {
    folder,
    id,
    document,
    signed: listBytes ? sha256(listBytes) : null,
    hosting: Object.entries(document.files)
      .filter(([path]) => isHosting(path))
      .map(([path, { sha256, size }]) => ({ path, sha256, size })),
    files: isBucket ? withFolderAddresses(files) : files,
    read: checked,
  };
}
