import { exitStatus, init as start } from "../../pipeline/index.ts";
import { answer, type Host, openingSurroundings, say, sayNext } from "../terminal/host.ts";
import { findProject } from "../terminal/project.ts";
import { folderName, shellWord } from "../terminal/words.ts";

/** `relcat init`: creates a project that can be checked and built at once. */
export async function init(folder: string, host: Host): Promise<number> {
  const outer = findProject(folder, undefined);
  const files = (await start(folder, host.own.version, await openingSurroundings(host))).map(
    ({ path }) => path,
  );
  const place = folder === "." ? "this folder" : folderName(folder);
  answer<"init">(host, { folder, files }, () =>
    [`Started a project in ${place}:`, ...files.map((path) => `  ${path}`)].join("\n"),
  );
  const there = folder === "." ? "" : ` -C ${shellWord(folder)}`;
  say(
    host,
    `Run npm install in ${place}: it installs relcat ${host.own.version} and writes package-lock.json, which belongs in git.`,
  );
  if (outer !== undefined && outer !== folder)
    say(
      host,
      `${folderName(outer)}already contains a project: commands in ${place}now use the new one instead.`,
    );
  sayNext(host, `relcat${there} check, then relcat${there} build`);
  return exitStatus.done;
}
