import type { Builder } from "../documents/config.ts";
import type { ReleaseDocument } from "../documents/site.ts";
import type { Signer } from "./keys.ts";

const payloadType = "application/vnd.in-toto+json";

/**
 * An in-toto statement v1 with a SLSA provenance v1 predicate.
 * @param builder identity that vouches for the builds, which relcat did not observe
 * @param vendor key in `data` that holds the source revision
 */
export function provenanceStatement(release: ReleaseDocument, { id, source }: Builder, vendor: string) {
  const { version, packages, artifacts } = release;
  const builds = packages.map(({ data }) => (data as Record<string, Build | undefined>)[vendor] ?? {});
  const distinct = (values: (string | undefined)[]) =>
    [...new Set(values.filter((value) => value !== undefined))].sort();
  return {
    _type: "https://in-toto.io/Statement/v1",
    // An imported record may have another checksum, or none.
    subject: packages
      .filter(({ checksum }) => /^[0-9a-f]{64}$/.test(checksum))
      .map(({ id, checksum }) => ({ name: artifacts[id]?.file, digest: { sha256: checksum } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:relcat:build:1",
        externalParameters: { version, derivations: distinct(builds.map(({ image }) => image?.drv)) },
        resolvedDependencies: distinct(builds.map(({ rev }) => rev)).map((gitCommit) => ({
          ...(source !== undefined && { uri: source }),
          digest: { gitCommit },
        })),
      },
      runDetails: { builder: { id } },
    },
  };
}

interface Build {
  rev?: string;
  image?: { drv?: string };
}

/** Wraps and signs a statement (DSSE 1.0). */
export async function envelope(signer: Signer, statement: object) {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = Buffer.from(await signer.sign(covered(payload))).toString("base64");
  return { payloadType, payload: payload.toString("base64"), signatures: [{ keyid: signer.id, sig }] };
}

/** The bytes that a signature in an envelope covers. */
export const covered = (payload: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);
