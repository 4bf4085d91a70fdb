import type { SiteStore } from "../../documents/site-store.ts";

const silence = 30_000;
const tries = 3;

type ArtifactHead = { size: number | undefined; sha256: string | undefined } | { reason: string };

/** Files at the site are read from the store, because a CDN would cache a 404. @param baseUrl without a final slash */
export async function headArtifact(url: string, baseUrl: string, store: SiteStore): Promise<ArtifactHead> {
  if (url.startsWith(`${baseUrl}/`)) {
    const path = decoded(url.slice(baseUrl.length + 1));
    if (path === undefined) return { reason: `${url} has an invalid % sequence` };
    return (await store.head(path)) ?? { reason: `${store.place}/${path} is missing` };
  }
  let reason = "";
  for (let attempt = 0; attempt < tries; attempt++) {
    const answer = await ask(url);
    if (!("again" in answer)) return answer;
    reason = answer.again;
  }
  return { reason: `${url} ${reason}` };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

async function ask(url: string): Promise<ArtifactHead | { again: string }> {
  try {
    const { status, headers } = await fetch(url, {
      method: "HEAD",
      headers: { "accept-encoding": "identity" },
      signal: AbortSignal.timeout(silence),
    });
    if (status >= 500 || status === 429) return { again: `answers ${status}` };
    if (status !== 200) return { reason: `${url} answers ${status}` };
    const length = headers.get("content-length");
    return {
      size: length === null ? undefined : Number(length),
      sha256: headers.get("x-amz-meta-sha256") ?? undefined,
    };
  } catch (error) {
    const { message, cause } = error as Error;
    return { again: `cannot be reached: ${cause instanceof Error ? cause.message : message}` };
  }
}
