import { beforeAll, expect, test } from "vitest";
import { copyProject, relcat } from "../support/run.ts";
import { ask, serveFolder } from "./origin.ts";

/** The page of a withdrawn record, on the sample. */
let url: string;

beforeAll(async () => {
  const folder = copyProject(".");
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  ({ url } = await serveFolder(`${folder}/dist`));
});

test("it names the file, the reason and the replacement, and links to the replacement's release", async () => {
  const { status, text } = await ask(url, "/api/v1/package/70/", { headers: { Accept: "text/html" } });
  expect(status).toBe(410);
  const main = text.slice(text.indexOf("<main"), text.indexOf("</main>"));
  const words = main
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ")
    .trim();
  expect(words).toContain(
    "northgate-client-gui-26.08.001-x64.msi was withdrawn Removes saved sign-ins when it upgrades 26.07.001 or earlier; fixed in 26.08.002. Use northgate-client-gui-26.08.002-x64.msi of 26.08.002 instead.",
  );
  expect(main).toContain('href="/releases/26.08.002/#p93"');
  expect(text).toContain("<title>northgate-client-gui-26.08.001-x64.msi was withdrawn");
});
