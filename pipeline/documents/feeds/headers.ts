/** Header that every registry response has, and the name of the header with a manifest's digest. */
export const registryVersion = { "Docker-Distribution-API-Version": "registry/2.0" } as const;
export const registryDigest = "Docker-Content-Digest";

/**
 * Headers that clients of an OCI registry need: they resolve a tag by a header of the response to HEAD.
 * @param sha256 of the file's bytes
 */
export const registryHeaders = (path: string, sha256: string): Record<string, string> => ({
  ...(path.startsWith("v2/") && registryVersion),
  ...(/^v2\/.+\/(?:manifests|blobs)\/[^/]+$/.test(path) && { [registryDigest]: `sha256:${sha256}` }),
});
