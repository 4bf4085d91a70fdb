// Imported directly, because index.ts also loads templates and pages, which doubles the memory of build jobs.

import { type UploadDelivery, upload } from "../../pipeline/publish/upload-artifacts.ts";
import { handOver, isInReleases } from "../intake/manifest-place.ts";
import { table } from "../terminal/cells.ts";
import { answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { openRelease, siteOf } from "../terminal/only-one.ts";
import { showReading } from "../terminal/progress.ts";
import { problemRows, renderProblems } from "../terminal/render.ts";
import { count, fileSize } from "../terminal/words.ts";

interface UploadOptions {
  site?: string | undefined;
  release?: string;
  manifest?: string;
  config?: string;
  withPrivate?: true;
  jobs?: number;
  dryRun?: boolean;
}

export async function uploadArtifacts(
  files: readonly string[],
  { release, manifest, config, withPrivate, jobs, dryRun = false, ...options }: UploadOptions,
  host: Host,
): Promise<void> {
  const site = await siteOf(options.site, host, "--site ", config);
  const reading = showReading(host);
  const sending = showReading(host, "Uploading");
  const version = { version: release, openRelease: openRelease(host) };
  const request = { files, site, ...version, manifest, config, withPrivate, dryRun };
  const delivered = await upload(host.releases, request, {
    ...commandContext(host),
    environment: host.environment,
    reading: { jobs, onProgress: reading.onProgress },
    onUploading: (progress) => {
      reading.end();
      sending.onProgress(progress);
    },
  }).finally(() => {
    reading.end();
    sending.end();
  });
  report(delivered, site, dryRun, host);
}

function report(delivered: UploadDelivery, site: string, dryRun: boolean, host: Host): void {
  const { place, version, uploads, manifest, leftOut, warnings } = delivered;
  const document = {
    site,
    place,
    release: version,
    dry_run: dryRun,
    files: uploads.map(({ file, url, size, sha256, result }) => ({ file, url, size, sha256, result })),
    manifest: manifest
      ? { file: manifest.file, result: manifest.result, not_given: manifest.notGiven }
      : null,
    left_out: leftOut,
    warnings: problemRows(warnings, host),
  };
  if (leftOut.length > 0) say(host, `Left out: ${leftOut.join(", ")}.`);
  host.messages.write(renderProblems(warnings, host));
  answer<"upload">(host, document, () => describe(delivered, site, dryRun));
  sayNext(host, nextOf(delivered, host), dryRun);
}

function describe({ place, uploads, manifest }: UploadDelivery, site: string, dryRun: boolean): string {
  const present = uploads.filter(({ result }) => result === "present").length;
  const files = count(uploads.length - present, "file");
  const already = present > 0 ? `, ${present} already there` : "";
  const rows = uploads.map(({ file, size, url }) => [`  ${file}`, fileSize(size), url]);
  const wrote = manifest?.result === "replaced" ? `\nWrote url, size and sha256 into ${manifest.file}` : "";
  return `${dryRun ? "Would upload" : "Uploaded"} ${files} to ${site} (${place})${already}:\n${table(rows)}${wrote}`;
}

function nextOf({ version, manifest }: UploadDelivery, host: Host): string {
  return manifest && !isInReleases(manifest.file, host)
    ? handOver(manifest.file, version, host)
    : "relcat check";
}
