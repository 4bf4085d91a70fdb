import { isBelowRoot, type NewProject, type StartedProject, init as start } from "../../pipeline/index.ts";
import { answer, type Host, openingContext, say, sayNext } from "../terminal/host.ts";
import { findProject } from "../terminal/project.ts";
import { folderName, shellWord } from "../terminal/words.ts";

export async function init(folder: string, wanted: NewProject, host: Host): Promise<void> {
  const outer = findProject(folder, undefined);
  const started = await start(folder, wanted, host.own, {
    ...(await openingContext(host)),
    onNpm() {
      if (!host.quiet) say(host, "Waiting for npm, which may take a minute…");
    },
  });
  const place = folder === "." ? "this folder" : folderName(folder);
  const { files, version, relcat } = started;
  answer<"init">(host, { folder, files, version, relcat, locked: started.unlocked === undefined }, () =>
    [`Started a project in ${place}:`, ...files.map((path) => `  ${path}`)].join("\n"),
  );
  for (const sentence of aboutRelcat(started, folder, host.own.folder)) say(host, sentence);
  if (outer !== undefined && outer !== folder)
    say(
      host,
      `${folderName(outer)} already contains a project: commands in ${place} now use the new one instead.`,
    );
  if (isBelowRoot(folder))
    say(
      host,
      `GitHub runs only workflows in the root of a repository. Move .github/workflows/ there, and add "defaults: { run: { working-directory: FOLDER } }" to both files, with the path of ${place} in place of FOLDER.`,
    );
  const there = folder === "." ? "" : ` -C ${shellWord(folder)}`;
  sayNext(host, nextSteps(wanted.from, `relcat${there}`, version));
}

function aboutRelcat(
  { relcat, isUnpacked, unlocked }: StartedProject,
  folder: string,
  own: string,
): string[] {
  const place = folder === "." ? "this folder" : folderName(folder);
  const lock = "npm install --package-lock-only";
  if (isUnpacked) {
    const pack = `mkdir -p vendor && npm pack ${shellWord(own)} --ignore-scripts --pack-destination vendor`;
    return [
      `${relcat.replace("file:", "")} and package-lock.json are missing, because npm is not installed here. Where it is, run in ${place}: ${pack} && ${lock}`,
    ];
  }
  const origin = relcat.startsWith("file:")
    ? `package.json installs relcat from ${relcat.replace("file:", "")}, which belongs in git; npm ci gets only its dependencies from a registry, or from npm's cache.`
    : `package.json installs relcat ${relcat} from a registry.`;
  if (unlocked === undefined) return [origin];
  return [
    origin,
    `package-lock.json, which npm ci needs, is missing: ${unlocked.replace(/\.$/, "")}. To write it, run in ${place}: ${lock}`,
  ];
}

function nextSteps(from: NewProject["from"], relcat: string, version: string): string {
  const ingest = `${relcat} ingest --release ${version}`;
  switch (from) {
    case "sample":
      return `${ingest} out, then ${relcat} build, then ${relcat} serve`;
    case "goreleaser":
      return `run goreleaser, then ${ingest} GORELEASER-DIST`;
    case "nix":
      return `run nix build, then ${ingest} --rev git RESULT`;
    default:
      return `${relcat} check, then ${relcat} build`;
  }
}
