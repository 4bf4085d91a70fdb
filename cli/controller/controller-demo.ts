import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitStatus, RelcatError } from "../../pipeline/errors.ts";
import { type ControllerServer, serveController, settings } from "../../service/controller/node.ts";
import { addFirstOwner, askOnHost, untilStopped } from "../../service/controller/node-host.ts";
import { type DeviceFields, enroll, newDeviceKey } from "../devices/enrolment.ts";
import { type Host, lineText, print, say } from "../terminal/host.ts";
import { shellWord } from "../terminal/words.ts";
import { connectAsNobody } from "./api.ts";
import { type Opened, withController } from "./controller-open.ts";
import { explainListening } from "./listening.ts";

const email = "owner@example.com";

interface DemoOptions {
  port: number;
  devices: number;
}

/** `relcat controller demo`: a temporary controller with simulated devices, which runs until stopped. */
export async function demo(options: DemoOptions, host: Host): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "relcat-demo-"));
  try {
    const unlimited = { ...settings, limits: { key: 0, address: 0, enrol: 0, login: 0 } };
    const opening = {
      create: true,
      settings: { ...unlimited, mostPending: options.devices + 1000 },
      pepper: randomBytes(32).toString("hex"),
    };
    const database = join(folder, "controller.db");
    await withController(database, host, (controller) => run(controller, options, folder, host), opening);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    say(host, "The demo and its database are removed.");
  }
  return exitStatus.done;
}

async function run(
  controller: Opened,
  { port, devices }: DemoOptions,
  folder: string,
  host: Host,
): Promise<void> {
  const password = randomBytes(12).toString("base64url");
  await addFirstOwner(controller, email, password);
  const key = await makeKey(controller);
  const server = await start(controller, port);
  let isStopped = false;
  const stopped = untilStopped().then(() => {
    isStopped = true;
  });
  const connection = connectAsNobody({ url: server.url }, host);
  say(host, `${devices} devices enrol…`);
  for (let first = 0; first < devices && !isStopped; first += batchSize) {
    const few = Array.from({ length: Math.min(batchSize, devices - first) }, (_, index) => first + index);
    await Promise.all(few.map((index) => enroll(connection, deviceOf(index), newDeviceKey())));
  }
  if (!isStopped) {
    const serials = join(folder, "serials.csv");
    writeFileSync(serials, csvOf(devices));
    printInstructions({ url: server.url, password, serials, key }, host);
  }
  await stopped;
  await server.close();
}

const batchSize = 16;

async function makeKey(controller: Opened): Promise<{ id: string; key: string }> {
  const scopes = ["devices:read", "devices:state", "devices:write", "audit:read"];
  const { body } = await askOnHost(controller)("POST", "/api_keys", { name: "demo", scopes });
  return body as { id: string; key: string };
}

async function start(controller: Opened, port: number): Promise<ControllerServer> {
  const host = "127.0.0.1";
  try {
    const clock = () => performance.now();
    return await serveController(controller, { host, port, clock, log: () => {} });
  } catch (error) {
    const problem = explainListening(error as NodeJS.ErrnoException, `${host}:${port}`);
    throw problem ? new RelcatError([problem], { cause: error }) : error;
  }
}

const serialOf = (number: number) => `SN-${String(number).padStart(5, "0")}`;
const systems = ["linux", "macos", "windows"];

/** Most devices are normal; some share a serial number or have a vendor's placeholder. */
const deviceOf = (index: number): DeviceFields => ({
  name: `laptop-${index + 1}`,
  serial: oddSerials[index] ?? serialOf(index + 1),
  device_type: "laptop",
  device_os: systems[index % systems.length] ?? null,
  version: "demo",
});

/** Serial numbers by index: the second device repeats the first one's. */
const oddSerials: Readonly<Record<number, string>> = {
  1: "SN-00001",
  2: "To Be Filled By O.E.M.",
  3: " sn-00004 ",
};

/** A list like that of a purchasing department: half of the fleet, and two machines that never connected. */
const csvOf = (devices: number): string =>
  [
    "Asset;Serial Number;Owner",
    ...Array.from(
      { length: Math.ceil(devices / 2) },
      (_, index) => `A${index + 1};${serialOf(index + 1)};IT`,
    ),
    `A9001;${serialOf(90_001)};IT`,
    `A9002;${serialOf(90_002)};IT`,
    "",
  ].join("\n");

interface DemoServer {
  url: string;
  password: string;
  serials: string;
  key: { id: string; key: string };
}

/** Prints commands to type next; standard output can be evaluated by a shell. */
function printInstructions({ url, password, serials, key }: DemoServer, host: Host): void {
  if (host.json) {
    print(
      host,
      lineText<"demo-listening">({
        event: "listening",
        url,
        email,
        password,
        serials,
        id: key.id,
        key: key.key,
      }),
    );
    return;
  }
  print(
    host,
    [
      `# A controller is running on ${url}; Ctrl-C stops it and removes everything.`,
      `# Its Owner: ${email}, password ${password}`,
      "# In another terminal:",
      ...commandLine(host),
      `export RELCAT_CONTROLLER_URL=${url}`,
      `export RELCAT_API_KEY_ID=${key.id}`,
      `export RELCAT_API_KEY=${key.key}`,
      "relcat devices list --state pending",
      "relcat devices accept laptop-10 --reason 'Known to me.'",
      `relcat devices accept --serials ${shellWord(serials)} --dry-run`,
      `relcat devices accept --serials ${shellWord(serials)} --preapprove --yes`,
      "relcat devices history laptop-10",
    ].join("\n"),
  );
}

/** In a clone relcat is a file; when installed, it is a command. */
function commandLine({ own: { folder } }: Host): string[] {
  const node = join(folder, "node_modules/.bin/node");
  if (!existsSync(join(folder, "cli/main.ts")) || !existsSync(node)) return [];
  return [`relcat() { ${shellWord(node)} ${shellWord(join(folder, "cli/relcat.mjs"))} "$@"; }`];
}
