#!/usr/bin/env node
// Plain JavaScript that even Node 12 reads, so that it can say which version relcat needs.
import { existsSync, readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

const source = new URL("./main.ts", import.meta.url);
const compiled = new URL("../build/cli/main.js", import.meta.url);
const inRepository = existsSync(source);
const about = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** Whether a version lies in a range of `^1.2.3` and `>=1`, joined by `||`: all that engines needs. */
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

/** A word as a POSIX shell reads it back. */
function quoted(word) {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

function tooOld() {
  const words = process.argv.slice(2).map(quoted);
  const line = inRepository
    ? ["npm run relcat --"].concat(words)
    : [`npx --yes --package=node@26 --package=relcat@${about.version} relcat`].concat(words);
  const advice = inRepository ? "after npm ci this works" : "this works";
  process.stderr.write(
    `relcat needs Node ${about.engines.node}, but this is Node ${process.versions.node}; ${advice}: ${line.join(" ")}\n`,
  );
  process.exitCode = 2;
}

if (fits(process.versions.node.split(".").map(Number), about.engines.node)) {
  if (nodeModule.enableCompileCache) nodeModule.enableCompileCache();
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const { version, bugs } = about;
  import((inRepository ? source : compiled).href).then(({ main }) => main({ folder, version, bugs }));
} else {
  tooOld();
}
