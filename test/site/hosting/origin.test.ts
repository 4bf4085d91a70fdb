import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../../support/run.ts";
import { fileOf, servedSite } from "./catalog.ts";
import { send } from "./exchange.ts";
import { origin } from "./homes/origin.ts";
import { hasPrograms, runInstaller } from "./installers.ts";
import { runContract } from "./run-contract.ts";

runContract(origin);

test.each([
  ["OPTIONS", 200],
  ["PUT", 405],
])("%s of an artifact names the allowed methods", async (method, status) => {
  const running = await origin.start(await servedSite(""));
  const answer = await send(`${running.origin}/files/26.08.001/tool.tar`, method, {});
  expect([answer.status, answer.headers.allow]).toEqual([status, "GET, HEAD, OPTIONS"]);
  await running.stop();
});

test("an artifact is not sent again to a client that has it since then, unless its ETag differs", async () => {
  const running = await origin.start(await servedSite(""));
  const ask = (headers: Record<string, string>) =>
    send(`${running.origin}/files/26.08.001/tool.tar`, "GET", headers);
  const since = (await ask({})).headers["last-modified"] ?? "";
  const statuses = [
    { "If-Modified-Since": since },
    { "If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT" },
    { "If-Modified-Since": "yesterday" },
    { "If-Modified-Since": since, "If-None-Match": '"other"' },
  ].map(async (headers) => (await ask(headers)).status);
  expect(await Promise.all(statuses)).toEqual([304, 200, 200, 200]);
  await running.stop();
});

test.runIf(hasPrograms)(
  "the commands of docs/hosting.md download a file with curl",
  { tags: ["long"] },
  async () => {
    const page = readFileSync(join(repository, "docs/hosting.md"), "utf8");
    const lines = page
      .split("\n")
      .filter((line) => /^(id=\$\()?curl .*127\.0\.0\.1:8080\/api/.test(line))
      .map((line) => line.replace("http://127.0.0.1:8080", "$CATALOG").replaceAll("'", '"'));
    expect(lines).toHaveLength(2);
    // The first line has quotes for jq.
    const [choose = "", download = ""] = lines;
    const running = await origin.start(await servedSite(""));
    try {
      const script = [
        choose.replace(/jq -r ".*"\)$/, "jq -r '.[0].id')"),
        download.replace(/^curl/, "$CURL -sS"),
      ];
      const said = await runInstaller(
        { lines: ['cd "$(mktemp -d)"', ...script, "cat client.deb"], file: "core20" },
        running.origin,
      );
      expect([fileOf("core20"), fileOf("gui20"), fileOf("core22"), fileOf("gui22")]).toContain(said);
    } finally {
      await running.stop();
    }
  },
);
