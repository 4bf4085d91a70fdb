import { requireFolder } from "../../pipeline/index.ts";
import { type OriginOptions, startOrigin, untilStopped } from "../../service/catalog/node.ts";
import { failure } from "../../shared/errors.ts";
import { ledgerGuard } from "../catalog/ledger-guard.ts";
import { commandContext, type Host, lineText, print, say } from "../terminal/host.ts";
import { explainListening, logEntry, refuseUnreadable } from "../terminal/servers.ts";
import { UsageError } from "../terminal/usage.ts";
import { folderName } from "../terminal/words.ts";

interface ServeOptions {
  dir?: string;
  host: string;
  port: number;
  trustedProxies?: string[];
  reusePort?: true;
  build?: true;
  watch?: true;
  releases?: string;
  afterPost?: string[];
  database?: string;
}

/** Minimum length in characters of a token that cannot be guessed over a network. */
const shortestToken = 16;

export async function serve(options: ServeOptions, host: Host): Promise<void> {
  const { dir = host.dist, build = false, watch = false, trustedProxies = [] } = options;
  trustedProxies.forEach(refuseUnreadable);
  const addManifest = await postsInto(options, host);
  // The builder is most of the library, and only a preview needs it.
  const authoring = build || watch ? await import("./serve-build.ts") : undefined;
  // Created once, so that git is not called after each change.
  const guard = ledgerGuard({}, host);
  await authoring?.buildInto(dir, host, guard);
  const origin = await startOrigin({
    ...options,
    folder: dir,
    addManifest,
    clock: () => performance.now(),
    log: (entry) => logEntry(entry, host),
  }).catch((error) => {
    throw explain(error, dir, `${options.host}:${options.port}`);
  });
  const stopWatching = watch ? authoring?.rebuildOnChange(dir, origin, host, guard) : undefined;
  // Installed before the message, because its reader may stop the server at once.
  const stopped = untilStopped();
  const [url, id] = [origin.url, origin.build()];
  if (host.json) print(host, lineText<"serve-listening">({ event: "listening", url, build: id }));
  const watched = watch ? `, again after each change in ${host.releases}/` : "";
  say(host, `Serving ${folderName(dir)} on ${url}/${watched}. Ctrl-C stops it.`);
  await stopped;
  stopWatching?.();
  say(host, "Finishing requests in progress…");
  await origin.close();
}

/** @returns undefined if posting is disabled */
async function postsInto(options: ServeOptions, host: Host): Promise<OriginOptions["addManifest"]> {
  const { releases, afterPost, database } = options;
  if (releases === undefined) {
    const option = afterPost ? "--after-post" : "--database";
    if (!afterPost && database === undefined) return undefined;
    throw new UsageError(
      `${option} has no effect alone`,
      "Add --releases releases, which stores posted manifests.",
    );
  }
  const token = postToken(host.environment.RELCAT_PUBLISH_TOKEN, database !== undefined);
  requireFolder(releases);
  const log = (message: string) => logEntry({ event: "error", message }, host);
  const mayPost = database === undefined ? undefined : await keysOf(database, host, log);
  const { addManifestTo } = await import("../../service/catalog/node-post.ts");
  return addManifestTo({ releases, token, mayPost, afterPost, context: commandContext(host), log });
}

/** @param isOptional whether API keys may post as well */
function postToken(token = "", isOptional: boolean): string | undefined {
  if (token === "" && isOptional) return undefined;
  if (token.length >= shortestToken) return token;
  const state = token === "" ? "is not set" : `has ${token.length} characters`;
  throw new UsageError(
    `RELCAT_PUBLISH_TOKEN ${state}, expected at least ${shortestToken}`,
    "export RELCAT_PUBLISH_TOKEN=$(openssl rand -hex 24)",
  );
}

/** Opens a controller's database, read-only, to check API keys. */
async function keysOf(database: string, host: Host, log: (message: string) => void) {
  const { NotReady, openController, settings } = await import("../../controller/server/node.ts");
  const { mayPostPackages } = await import("../../controller/server/node-post.ts");
  const pepper = host.environment.RELCAT_PEPPER;
  const opening = openController({ database, pepper, settings, clock: Date.now, log });
  const controller = await opening.catch((error: unknown) => {
    throw error instanceof NotReady
      ? new UsageError(error.message, "The keys of a controller are in its database.")
      : error;
  });
  return (request: Parameters<typeof mayPostPackages>[1]) => mayPostPackages(controller, request);
}

function explain(error: NodeJS.ErrnoException, folder: string, address: string): unknown {
  const name = folderName(folder);
  if (error.code === "ENOENT") {
    const message = `${name} does not contain a built site`;
    return failure("folder-missing", message, "Build one first: relcat build", undefined, error);
  }
  if (error instanceof SyntaxError || error.name === "SiteUnfinished") {
    const message = `${name} does not contain a complete site: ${error.message}`;
    return failure("build-unreadable", message, "Build it again: relcat build", undefined, error);
  }
  return explainListening(error, address) ?? error;
}
