import { join } from "node:path";
import { expect, test } from "vitest";
import { artifact, project, release } from "../support/project.ts";
import { jsonOf, readTree, textOf } from "../support/tree.ts";

test("an entry of the news feeds is updated when files are added, withdrawn and reinstated, and never goes back", async () => {
  const [first, later] = [artifact("tool.rpm", "rpm", "1"), artifact("tool.deb", "deb", "2")];
  const made = project({
    "releases/catalog.yaml": { product: "Acme", base_url: "https://example.com", require: {} },
    ...release("26.08.001", [first]),
  });
  const day = (number: number) => `2026-09-0${number}T10:00:00.000000Z`;
  const dates = async () => {
    await made.succeed("build");
    const tree = readTree(join(made.folder, "dist"));
    const [item] = jsonOf(tree, "feed.json").items;
    const updated = textOf(tree, "feed.atom").match(/(?<=<updated>).*?(?=<)/g);
    expect(updated).toEqual([item.date_modified, item.date_modified]);
    return [item.date_published, item.date_modified];
  };
  await made.succeed("cut", "26.08.001", "--now", day(1));
  expect(await dates()).toEqual([day(1), day(1)]);
  made.write("releases/26.08.001/manifests/later.json", { release: "26.08.001", artifacts: [later] });
  await made.succeed("cut", "26.08.001", "--now", day(2));
  expect(await dates()).toEqual([day(1), day(2)]);
  await made.succeed("retract", "1", "--reason", "Does not start.", "--yes", "--now", day(3));
  expect(await dates()).toEqual([day(1), day(3)]);
  await made.succeed("reinstate", "1", "--yes", "--now", day(4));
  expect(await dates()).toEqual([day(1), day(4)]);
});
