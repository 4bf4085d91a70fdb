import { join } from "node:path/posix";
import { type IngestRequest, ingestBuild } from "../../../pipeline/intake/ingest/ingest.ts";
import { RelcatError } from "../../../shared/errors.ts";

/** Fixtures of every shape, relative to the repository. */
export const fixtures = "test/fixtures/ingest";

export const revision = "ea9d15af6eabdcec745e0c929c8b6e0a87999ba6";
export const selfCheck = "B6FCFA0D76E2AE95CA2ED3BA7B977FAE26EE3A628AA65A55B9C7A00297343E8B";

/** The store path, recipe and size of the Nix fixtures. */
export const image = {
  path: "/nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi",
  size: 4371958628,
  drv: "/nix/store/g9x36nk71c2vac1zw6zxc1zj9rxp0p0g-controller-qcow-efi.drv",
  derivation: "asxd5d93x5rxmj6c9w970l1k36dj2rqq",
  file: "images/controller-qcow-efi.qcow2.gz",
};

export const file = (path: string) => (path.startsWith("/") || path === "-" ? path : join(fixtures, path));

const request = (inputs: readonly string[], more: Partial<IngestRequest>): IngestRequest => ({
  inputs: inputs.map(file),
  release: "26.08.002",
  config: file("catalog.yaml"),
  revision,
  elsewhere: true,
  ...more,
});

const quiet = { environment: {}, clock: 0, onProgress: () => {} };

/** Ingests fixtures; paths are relative to the fixtures' folder. */
export const ingest = (inputs: readonly string[], more: Partial<IngestRequest> = {}) =>
  ingestBuild("test/fixtures/ingest/no-releases", request(inputs, more), quiet);

/** As `ingest`, for images: with the self-check hash that they need. */
export const ingestImage = (inputs: readonly string[], more: Partial<IngestRequest> = {}) =>
  ingest(inputs, { settings: [`attestation.cryptolib_post.expected_hash=${selfCheck}`], ...more });

/** The only artifact of inputs. */
export async function artifactOf(inputs: readonly string[], more: Partial<IngestRequest> = {}) {
  const { artifacts } = (await ingestImage(inputs, more)).manifest;
  if (artifacts.length !== 1 || !artifacts[0]) throw new Error(`${artifacts.length} artifacts`);
  return artifacts[0];
}

/** Errors of inputs as text: place, code, message, hint. */
export async function problemsOf(
  inputs: readonly string[],
  more: Partial<IngestRequest> = {},
): Promise<string[]> {
  try {
    await ingestImage(inputs, more);
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    const errors = error.problems.filter(({ severity }) => severity === "error");
    return errors.map(({ at, code, message, hint }) =>
      [
        `${at ? `${at.file}:${at.line}:${at.column} ` : ""}${code}: ${message}`,
        ...(hint ? [`→ ${hint}`] : []),
      ]
        .join("\n")
        .replaceAll(`${fixtures}/`, ""),
    );
  }
  return [];
}
