import { expect, test } from "vitest";
import { project, smallCatalog } from "../support/project.ts";

/** The history of a record on the page of its release. */
async function historyOf(made: ReturnType<typeof project>, id: number): Promise<string[]> {
  await made.succeed("build", "--quiet");
  const html = made.read(`dist/releases/${id < 3 ? "26.08.001" : "26.09.001"}/index.html`);
  const record = html.slice(html.indexOf(`id="p${id}"`));
  const list = record.slice(record.indexOf('<ul class="history">'), record.indexOf("</ul>"));
  return [...list.matchAll(/<li>(.*)<\/li>/g)].map(([, item = ""]) => item.replace(/<[^>]*>/g, ""));
}

const revised = (made: ReturnType<typeof project>, description: string) => {
  const path = "releases/26.08.001/manifests/all.json";
  const manifest = JSON.parse(made.read(path));
  manifest.artifacts[0].description = description;
  made.write(path, manifest);
};

test("each event of a record is on its release's page after the next build, oldest first", {
  tags: ["long"],
}, async () => {
  const made = project(smallCatalog);
  await made.succeed("cut", "--all", "--now", "2026-09-20T10:00:00Z");
  const added = "Added 2026-09-20 10:00 UTC";
  expect(await historyOf(made, 1)).toEqual([added]);

  revised(made, "Installs the tool.");
  await made.succeed("cut", "26.08.001", "--now", "2026-09-21T10:00:00Z");
  const afterwards = [added, "Revised 2026-09-21 10:00 UTC"];
  expect(await historyOf(made, 1)).toEqual(afterwards);

  await made.succeed(
    "retract",
    "1",
    "--reason",
    "Loses <all> files.",
    "--yes",
    "--now",
    "2026-09-22T10:00:00Z",
  );
  // As long as it is withdrawn, the reason is above its history.
  expect(await historyOf(made, 1)).toEqual([...afterwards, "Withdrawn 2026-09-22 10:00 UTC"]);

  await made.succeed("reinstate", "1", "--yes", "--now", "2026-09-23T10:00:00Z");
  afterwards.push(
    "Withdrawn 2026-09-22 10:00 UTC: Loses &lt;all&gt; files.",
    "Reinstated 2026-09-23 10:00 UTC",
  );
  expect(await historyOf(made, 1)).toEqual(afterwards);
  expect(await historyOf(made, 2)).toEqual([added]);

  await made.succeed("retract", "1", "--reason", "Again.", "--yes", "--now", "2026-09-24T10:00:00Z");
  await made.succeed("reinstate", "1", "--yes", "--now", "2026-09-25T10:00:00Z");
  expect(await historyOf(made, 1)).toEqual([
    ...afterwards,
    "Withdrawn 2026-09-24 10:00 UTC: Again.",
    "Reinstated 2026-09-25 10:00 UTC",
  ]);
  await made.succeed("build", "--check-out");
});

test("events from the time in which a record was private are left out", async () => {
  const made = project(smallCatalog);
  await made.succeed("cut", "--all", "--now", "2026-09-20T10:00:00Z");
  const line = made.read("releases/ledger.jsonl").match(/.*inside-26.*/)?.[0] ?? "{}";
  const { id } = JSON.parse(line);
  const path = "releases/26.09.001/manifests/all.json";
  const inside = '"exclude_from_api":true';
  made.write(path, made.read(path).replace(inside, `${inside},"description":"Inside."`));
  await made.succeed("cut", "26.09.001", "--now", "2026-09-20T11:00:00Z");
  await made.succeed(
    "retract",
    `${id}`,
    "--reason",
    "A customer's secret.",
    "--yes",
    "--now",
    "2026-09-21T10:00:00Z",
  );
  await made.succeed("reinstate", `${id}`, "--yes", "--now", "2026-09-22T10:00:00Z");
  made.write(path, made.read(path).replace(inside, '"exclude_from_api":false'));
  await made.succeed("cut", "26.09.001", "--now", "2026-09-23T10:00:00Z");
  expect(await historyOf(made, id)).toEqual(["Added 2026-09-20 10:00 UTC", "Revised 2026-09-23 10:00 UTC"]);
});
