import { downloadArtifact } from "../../pipeline/index.ts";
import { answer, type Host } from "../terminal/host.ts";
import { showReading } from "../terminal/progress.ts";
import { UsageError } from "../terminal/usage.ts";
import { fileSize, shellWord } from "../terminal/words.ts";
import { type TrustOptions, trustedPlace } from "./trusted-place.ts";

interface DownloadOptions extends TrustOptions {
  from: string;
  set?: string[];
  channel?: string;
  out?: string;
}

export async function download(
  which: string,
  packageType: string,
  { from, set = [], channel, out, ...trust }: DownloadOptions,
  host: Host,
): Promise<void> {
  if (out === "-")
    throw new UsageError(
      "a download is verified before anything is written to --out, which must be a file",
      "Name a file: -o FILE. For a file named -, write: -o ./-",
    );
  const known = await trustedPlace(from, trust, host);
  const reading = showReading(host, "Downloading");
  const origin = originOf({ from, ...trust });
  const request = { which, packageType, settings: set, channel, out, origin, onProgress: reading.onProgress };
  const done = await downloadArtifact(known, request).finally(reading.end);
  answer<"download">(host, { ...done }, () =>
    done.result === "present"
      ? `${done.file} already exists and is correct: ${done.package_type} of ${done.version}.`
      : `Downloaded ${done.file}: ${done.package_type} of ${done.version}, ${fileSize(done.size)}, as signed.`,
  );
}

const originOf = ({ from, root, trustFirstUse, trustDir }: DownloadOptions): string =>
  [
    `--from ${shellWord(from)}`,
    ...(root === undefined ? [] : [`--root ${shellWord(root)}`]),
    ...(trustFirstUse ? ["--trust-first-use"] : []),
    ...(trustDir === undefined ? [] : [`--trust-dir ${shellWord(trustDir)}`]),
  ].join(" ");
