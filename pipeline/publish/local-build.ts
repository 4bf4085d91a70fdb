import { failure } from "../../shared/errors.ts";
import { relativePath } from "../documents/relative-path.ts";
import type { BuildDocument } from "../documents/site.ts";
import type { FileBytes, PublicFile } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { readIfPresent } from "../system/files.ts";
import { rootFolder } from "../system/root-folder.ts";
import { type Build, readBuild } from "../trust/built-site.ts";
import { sha256 } from "../trust/metadata.ts";
import { readSignedList, signedList } from "../trust/sign-site.ts";
import { isHosting, publicFiles, sourceOf, withFolderAddresses } from "../trust/site-files.ts";

/** Files that signing added, according to its list. */
interface SignedAdditions {
  build: string;
  files: Readonly<Record<string, { sha256: string; size: number }>>;
}

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

export interface LocalInput {
  folder: string;
  build: Build;
  signed: { list: SignedAdditions; bytes: Uint8Array } | undefined;
  read: (path: string) => Uint8Array | undefined;
  /** True if documents are also stored at the addresses of their folders. */
  isBucket: boolean;
}

/** @throws RelcatError build-changed, naming the first file that differs from the build or its signature */
function localBuild({ folder, build, signed, read, isBucket }: LocalInput): LocalBuild {
  const id = sha256(build.bytes);
  const known: SignedAdditions["files"] = {
    ...build.document.files,
    ...(signed?.list.build === id ? signed.list.files : {}),
    "build.json": { sha256: id, size: build.bytes.length },
  };
  const checked = (path: string) => {
    const source = sourceOf(path);
    const bytes = read(source);
    if (bytes && sha256(bytes) === known[source]?.sha256) return bytes;
    throw failure(
      "build-changed",
      `${folder}/${source} is not what was built or signed`,
      "Build and sign again: relcat build --released, then relcat sign",
    );
  };
  // Web server configuration is not uploaded to a bucket.
  for (const path of Object.keys(known)) if (!isBucket || !isHosting(path)) checked(path);
  const { copies = {}, provisional } = build.document;
  const copied = Object.entries(copies).flatMap(([path, copy]) =>
    publicFiles({ [path]: copy }, provisional).map((file) => ({ ...file, from: copy.from })),
  );
  const files = [...publicFiles(known, provisional), ...copied];
  return {
    folder,
    id,
    document: build.document,
    signed: signed?.list.build === id ? sha256(signed.bytes) : null,
    hosting: Object.entries(build.document.files)
      .filter(([path]) => isHosting(path))
      .map(([path, { sha256, size }]) => ({ path, sha256, size })),
    files: isBucket ? withFolderAddresses(files) : files,
    read: checked,
  };
}

/** @throws RelcatError folder-missing, build-changed */
export function readLocal(out: string, site: SiteSettings): LocalBuild {
  const build = readBuild(out);
  const list = readSignedList(out);
  const at = rootFolder(out);
  const listBytes = readIfPresent(at(relativePath(signedList)));
  return localBuild({
    folder: out,
    build,
    signed: list && listBytes && { list, bytes: listBytes },
    read: (path) => readIfPresent(at(relativePath(path))),
    isBucket: site.place.kind === "s3",
  });
}
