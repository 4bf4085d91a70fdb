import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { feedEntry, feedFiles } from "../../pipeline/site/news-feeds.ts";
import {
  configOf,
  hostile,
  noteOf,
  packageOf,
  releaseOf,
  retractedOf,
  textOf,
} from "../site/pages/factory.ts";

const xmllint = (input: string, ...args: string[]) =>
  execFileSync("xmllint", [...args, "-"], { input, encoding: "utf8" });

const everything = `${hostile}\uFFFE\uFFFF${Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join("")}<![CDATA[`;

test.each([
  ["an empty feed", []],
  ["a hostile feed", [everything]],
])("xmllint reads %s", (_, texts) => {
  const config = configOf({ product: texts[0] ?? "Product" });
  const releases = texts.map((text) =>
    releaseOf("26.08.002", {
      summary: text,
      notes: [noteOf(text)],
      packages: [packageOf(1, { name: text })],
      retracted: [retractedOf(2, { name: text, reason: text })],
    }),
  );
  const [atom] = feedFiles(
    releases.map((release) => feedEntry(release, config)),
    config,
  );
  expect(() => xmllint(textOf(atom), "--noout")).not.toThrow();
  const count = xmllint(textOf(atom), "--xpath", "count(//*[local-name()='entry'])");
  expect(Number(count)).toBe(texts.length);
});
