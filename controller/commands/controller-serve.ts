import { readFileSync } from "node:fs";
import { type Host, lineText, print, say, sayNext } from "../../cli/terminal/host.ts";
import { type Entry, explainListening, logEntry, refuseUnreadable } from "../../cli/terminal/servers.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { untilStopped } from "../../service/http/node-server.ts";
import { failure } from "../../shared/errors.ts";
import { type ControllerServer, serveController, settings } from "../server/node.ts";
import { open, shownDatabase } from "./controller-open.ts";

interface ControllerServeOptions {
  database: string;
  host: string;
  port: number;
  trustedProxies?: string[];
  tlsCert?: string;
  tlsKey?: string;
  maxAccepted?: number;
  maxPending?: number;
  limitKey?: number;
  limitAddress?: number;
  limitEnrol?: number;
  limitLogin?: number;
  organisation?: string;
}

export async function serveControllerUntilStopped(
  options: ControllerServeOptions,
  host: Host,
): Promise<void> {
  const { database, trustedProxies = [] } = options;
  trustedProxies.forEach(refuseUnreadable);
  const certificate = certificateOf(options);
  refuseOpenNetwork(options);
  const log = (entry: Entry) => logEntry(entry, host);
  const controller = await open(database, host, {
    settings: settingsOf(options),
    log: (message) => log({ event: "error", message }),
  });
  try {
    const server = await start(options, () =>
      serveController(controller, {
        host: options.host,
        port: options.port,
        trustedProxies,
        certificate,
        clock: () => performance.now(),
        log,
      }),
    );
    // Installed before the message, because its reader may stop the server at once.
    const stopped = untilStopped();
    announce(server, database, host);
    await stopped;
    say(host, "Finishing requests in progress…");
    await server.close();
  } finally {
    await controller.database.close();
  }
}

function announce({ url }: ControllerServer, database: string, host: Host): void {
  if (host.json) print(host, lineText<"listening">({ event: "listening", url }));
  say(host, `Serving the controller in ${shownDatabase(database)} on ${url}/. Ctrl-C stops it.`);
  sayNext(host, `open ${url}/ in a browser, or relcat login --url ${url}`);
}

function settingsOf(options: ControllerServeOptions) {
  const { limits } = settings;
  return {
    ...settings,
    mostAccepted: options.maxAccepted,
    mostPending: options.maxPending ?? settings.mostPending,
    organisation: options.organisation,
    limits: {
      key: options.limitKey ?? limits.key,
      address: options.limitAddress ?? limits.address,
      enrol: options.limitEnrol ?? limits.enrol,
      login: options.limitLogin ?? limits.login,
    },
  };
}

const isLoopback = (address: string) => /^(localhost|127\.[\d.]+|::1)$/.test(address);

/** Credentials must not cross an unencrypted network. */
function refuseOpenNetwork({ host, tlsCert, trustedProxies = [] }: ControllerServeOptions): void {
  if (isLoopback(host) || tlsCert !== undefined || trustedProxies.length > 0) return;
  throw new UsageError(
    `on ${host} others could read the credentials: HTTPS is required there`,
    "Give --tls-cert and --tls-key; or --trusted-proxies, if a proxy in front of it serves HTTPS; or --host 127.0.0.1.",
  );
}

function certificateOf({ tlsCert, tlsKey }: ControllerServeOptions) {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    const missing = tlsCert === undefined ? "--tls-cert" : "--tls-key";
    throw new UsageError(`${missing} is missing`, "A certificate needs its key: give both, as PEM files.");
  }
  return { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) };
}

async function start(
  { host, port, tlsCert, tlsKey }: ControllerServeOptions,
  listen: () => Promise<ControllerServer>,
): Promise<ControllerServer> {
  try {
    return await listen();
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (/^ERR_(OSSL|SSL|TLS)/.test(code)) {
      const what = `${tlsCert} and ${tlsKey} are not a certificate and its key: ${message}`;
      throw failure(
        "file-access",
        what,
        "Both must be PEM files, with the server's certificate first in its chain.",
        undefined,
        error,
      );
    }
    throw explainListening(error as NodeJS.ErrnoException, `${host}:${port}`) ?? error;
  }
}
