// node warm-command.mjs LAUNCHER INPUT: runs one command line of relcat after another, as its parent asks for them.
// Its standard streams are files. Input is written before a command; output is emptied before it, and read after it.
import {
  closeSync,
  createReadStream,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { setGlobalProxyFromEnv } from "node:http";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { fileURLToPath, pathToFileURL } from "node:url";

const [node, , launcher, inputFile] = process.argv;
const own = new URL("..", pathToFileURL(launcher));
const { version, bugs } = JSON.parse(readFileSync(new URL("package.json", own), "utf8"));
// Replaced before the program is loaded, which may keep the constructor.
let ahead = 0;
const { now } = Date;
Date.now = () => now() + ahead;
globalThis.Date = new Proxy(Date, {
  construct: (date, args, target) => Reflect.construct(date, args.length > 0 ? args : [date.now()], target),
});
const { main } = await import(new URL("build/program/main.js", own).href);

const ownCertificates = getCACertificates("default");
const initial = process.env.NODE_EXTRA_CA_CERTS;
let trusted = initial;
let endProxy = () => {};
let isRunning = false;
let before;

function begin({ cwd, args, env, input = "", ahead: milliseconds = 0 }) {
  isRunning = true;
  ahead = milliseconds;
  before = process.cpuUsage();
  for (const output of [1, 2]) ftruncateSync(output);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [node, launcher, ...args];
  // An opened file gets the lowest free descriptor, which is 0. Node makes process.stdin only once.
  writeFileSync(inputFile, input);
  closeSync(0);
  openSync(inputFile);
  const stdin = createReadStream("", { fd: 0, autoClose: false });
  Object.defineProperty(process, "stdin", { configurable: true, value: stdin });
  useNetwork(env);
  // From here on only what the command still waits for keeps the process alive, as in a process of its own.
  process.channel.unref();
  main({ folder: fileURLToPath(own), version, bugs });
}

/** Node itself reads these variables only when it starts. */
function useNetwork({ NODE_EXTRA_CA_CERTS: extra, NODE_USE_ENV_PROXY: usesProxy, ...env }) {
  if (extra !== trusted)
    setDefaultCACertificates(!extra || extra === initial ? ownCertificates : [readFileSync(extra, "utf8")]);
  trusted = extra;
  endProxy = usesProxy ? setGlobalProxyFromEnv(env) : () => {};
}

function end() {
  endProxy();
  isRunning = false;
  ahead = 0;
  for (const event of ["uncaughtException", "SIGINT", "SIGTERM"]) process.removeAllListeners(event);
  process.chdir("/");
  process.channel.ref();
  const memory = process.memoryUsage.rss();
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  process.send({ exitCode: process.exitCode ?? 0, stdout: written(1), stderr: written(2), memory, seconds });
  process.exitCode = undefined;
}

function written(output) {
  const bytes = Buffer.alloc(fstatSync(output).size);
  readSync(output, bytes, 0, bytes.length, 0);
  return bytes.toString();
}

process.on("message", begin);
process.on("beforeExit", () => isRunning && end());
process.send("ready");
