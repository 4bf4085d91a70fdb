#!/usr/bin/env node
// Plain JavaScript that even Node 12 can read, so that an old Node reports which version relcat needs.
const source = new URL("./main.ts", import.meta.url);
const bundled = new URL("../build/program/main.js", import.meta.url);

/** Tests a version against a range of `^1.2.3` and `>=1`, separated by `||`: all that engines needs. */
function fits(version, range) {
  return range.split("||").some((part) => {
    const floor = part.match(/\d+/g).map(Number);
    if (part.includes("^") && version[0] !== floor[0]) return false;
    return atLeast(version, floor);
  });
}

function atLeast(version, floor) {
  for (let i = 0; i < floor.length; i++) {
    if (version[i] !== floor[i]) return version[i] > floor[i];
  }
  return true;
}

function quoted(word) {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

function tooOld(about, launcher, inRepository, existsSync) {
  const words = process.argv.slice(2).map(quoted);
  const folder = launcher.replace(/[\\/]cli[\\/][^\\/]+$/, "");
  // A project has its own Node; npx and npm run find it.
  const own = inRepository ? `${folder}/node_modules/.bin/node` : folder.replace(/[^\\/]+$/, ".bin/node");
  // Only Node comes from the registry: a package called relcat there may be someone else's.
  const node = inRepository || existsSync(own) ? quoted(own) : "npx --yes --package=node@26 node";
  const line = [node, quoted(launcher)].concat(words);
  const advice = inRepository ? `after npm ci in ${quoted(folder)} this works` : "this works";
  process.stderr.write(
    `relcat needs Node ${about.engines.node}, but this is Node ${process.versions.node}; ${advice}: ${line.join(" ")}\n`,
  );
  process.exitCode = 2;
}

function start({ existsSync, readFileSync }, { fileURLToPath }) {
  const about = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const inRepository = existsSync(source);
  if (process.argv.length === 3 && process.argv[2] === "--version") {
    // Answered without further checks, because scripts often ask for the version, with any version of Node.
    process.stdout.write(`${about.version}\n`);
  } else if (fits(process.versions.node.split(".").map(Number), about.engines.node)) {
    const folder = fileURLToPath(new URL("..", import.meta.url));
    const { version, bugs } = about;
    import((inRepository ? source : bundled).href).then(({ main }) => main({ folder, version, bugs }));
  } else {
    tooOld(about, fileURLToPath(import.meta.url), inRepository, existsSync);
  }
}

const needed = ["fs", "url"];
// ES imports would evaluate all exports of these modules, a quarter of the start-up time.
if (process.getBuiltinModule) start(...needed.map((name) => process.getBuiltinModule(name)));
else Promise.all(needed.map((name) => import(name))).then((modules) => start(...modules));
