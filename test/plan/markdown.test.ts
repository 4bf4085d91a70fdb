/** @module-tag long */
import markdownIt from "markdown-it";
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";
import { describe, expect, test } from "vitest";
import { planMarkdown, planMarker, smallestLimit } from "../../cli/catalog/plan-markdown.ts";
import { bytes, characters } from "../../cli/terminal/markdown.ts";
import type { Plan } from "../../pipeline/index.ts";
import { artifact, cutCatalog, release } from "../support/project.ts";
import { october, planOf, settledProject, writeAll } from "./planning.ts";

type Node = DefaultTreeAdapterTypes.ChildNode;

/** Renders as a forge does: tables, raw HTML, and links from bare addresses. */
const forge = markdownIt({ html: true, linkify: true });

const elementsOf = (nodes: readonly Node[]): DefaultTreeAdapterTypes.Element[] =>
  nodes.flatMap((node) => ("tagName" in node ? [node, ...elementsOf(node.childNodes)] : []));

const textOf = (node: Node): string =>
  "value" in node ? node.value : "childNodes" in node ? node.childNodes.map(textOf).join("") : "";

const shown = (markdown: string) => elementsOf(parseFragment(forge.render(markdown)).childNodes);

/** The text outside code, in which a forge finds mentions, references and addresses. */
const prose = (node: Node): string => {
  if ("tagName" in node && node.tagName === "code") return "";
  return "value" in node ? node.value : "childNodes" in node ? node.childNodes.map(prose).join(" ") : "";
};

const hostileNames = [
  "a|b",
  "`code` ``more``",
  "<img src=x onerror=alert(1)>",
  "<!-- hidden",
  "@someone and #123 and GH-7 and owner.name#9",
  "www.evil.example mailto:me@evil.example",
  "[text](target) ![image](x) *bold* _it_ ~~no~~",
  "&lt;b&gt; &#64;me &amp;",
  ":tada: $x$ %0A",
];

const hostileNotes = [
  "</code></table><script>alert(1)</script>",
  "https://evil.example/x//y http://evil.example",
  "trailing backslash \\",
  "escaped \\| pipe \\\\| pipe",
  "two\nlines\r\n\n| and | a | table |\n\n# heading",
];

/** Hostile names in files, notes, a reason and a default. */
async function hostilePlan(): Promise<Plan> {
  const made = await settledProject();
  const packages = hostileNames.map((name, index) => artifact(`${name}${index}`, "msi", `${index}`));
  writeAll(made, release("26.10.001", packages));
  made.write("releases/26.08.001/release.yaml", {
    version: "26.08.001",
    date: "2026-08-15",
    notes: { server: { fixes: hostileNotes } },
  });
  await made.succeed("retract", "1", "--reason", "@all </code> |", "--yes", "--now", "2026-09-21T00:00:00Z");
  return planOf(made);
}

test("texts of users become no Markdown, HTML, mention, reference or link", async () => {
  const plan = await hostilePlan();
  const markdown = planMarkdown(plan);
  expect(markdown.startsWith(`${planMarker}\n`)).toBe(true);
  const elements = shown(markdown);
  const names = new Set(elements.map(({ tagName }) => tagName));
  const ours = "br code h2 h3 p strong table tbody td th thead tr";
  expect([...names].sort().join(" ")).toBe(ours);
  const text = elements
    .filter(({ tagName }) => tagName === "p" || tagName === "td" || tagName === "h3")
    .map(prose)
    .join(" ");
  expect(text).not.toMatch(/[@#<>|`]|www\.|:\/\//);
  const cells = elements.filter(({ tagName }) => tagName === "code").map(textOf);
  for (const [index, name] of hostileNames.entries()) expect(cells).toContain(`${name}${index}`);
  for (const note of hostileNotes) {
    expect(cells).toContain(`notes.server.fix: absent → ${JSON.stringify(note.trim())}`);
  }
  expect(cells).toContain("@all </code> |");
});

test("every row has as many cells as its head", async () => {
  const tables = shown(planMarkdown(await hostilePlan())).filter(({ tagName }) => tagName === "table");
  expect(tables.length).toBeGreaterThan(2);
  for (const table of tables) {
    const rows = elementsOf(table.childNodes).filter(({ tagName }) => tagName === "tr");
    const widths = rows.map((row) => row.childNodes.filter((node) => "tagName" in node).length);
    expect(new Set(widths).size).toBe(1);
  }
});

test("a baseline's name is shown as text", async () => {
  const made = await cutCatalog();
  await made.succeed("build", "--out", "@me #1");
  const markdown = planMarkdown(await planOf(made, { against: `${made.folder}/@me #1` }));
  expect(
    prose({ childNodes: shown(markdown), nodeName: "p", tagName: "p" } as unknown as Node),
  ).not.toContain("@me");
  expect(
    shown(markdown)
      .filter(({ tagName }) => tagName === "code")
      .map(textOf)
      .join(),
  ).toContain("@me #1");
});

describe("a long plan", () => {
  async function bigPlan(): Promise<Plan> {
    const made = await settledProject();
    const packages = Array.from({ length: 800 }, (_, index) =>
      artifact(`package-${index}-${"ä".repeat(50)}.msi`, "msi", "a", { size: index }),
    );
    writeAll(made, release("26.10.001", packages));
    return planOf(made, { documents: true });
  }

  /** The shown rows, and the number of omitted ones. */
  const countRows = (markdown: string) => ({
    rows: shown(markdown).filter(({ tagName }) => tagName === "td").length,
    missing: [...markdown.matchAll(/^(\d+) more (?:is|are) not shown: there is no space left\.$/gm)].map(
      ([, count]) => Number(count),
    ),
    folds: [...markdown.matchAll(/<details><summary>(\d+) (?:more|rows?)<\/summary>/g)].map(([, count]) =>
      Number(count),
    ),
  });

  test("has 20 open rows and the rest folded, and counts omitted rows", async () => {
    const plan = await bigPlan();
    const markdown = planMarkdown(plan);
    expect(markdown.length).toBeLessThanOrEqual(60_000);
    expect(markdown.length).toBeGreaterThan(59_000);
    const { missing, folds } = countRows(markdown);
    const [added = 0, documents = 0] = missing;
    expect(20 + (folds[0] ?? 0) + added).toBe(800);
    expect((folds[1] ?? 0) + documents).toBe(Object.values(plan.documents ?? {}).flat().length);
    expect(markdown).toContain("### Releases\n\n| version |");
    expect(markdown).toMatch(/The ledger gets 800 lines, dated .*\n$/);
    expect((markdown.match(/<details>/g) ?? []).length).toBe((markdown.match(/<\/details>/g) ?? []).length);
  });

  test("stays within any limit, in characters and in bytes", async () => {
    const plan = await bigPlan();
    for (const measure of [characters, bytes]) {
      for (const limit of [10_000, 10_001, 12_345, 65_536, 150_000]) {
        const markdown = planMarkdown(plan, limit, measure);
        expect(measure(markdown)).toBeLessThanOrEqual(limit);
        expect(measure(markdown)).toBeGreaterThan(Math.min(limit, 150_000) * 0.9);
      }
    }
    expect(countRows(planMarkdown(plan, 1_000_000)).missing).toEqual([]);
  });

  test("has the heading of every section at the smallest limit", async () => {
    const plan = await hostilePlan();
    const row = {
      id: 1,
      version: "26.10.001",
      package_type: "msi",
      name: "x".repeat(255),
      file: "&".repeat(255),
    };
    const rows = <T extends object>(rest: T) =>
      Array.from({ length: 50 }, (_, id) => ({ ...row, id: id + 1, ...rest }));
    const fields = [{ field: "description", from: "a".repeat(300), to: "|".repeat(300) }];
    const full: Plan = {
      ...plan,
      forbidden: Array.from({ length: 50 }, () => ({
        code: "a",
        message: "&".repeat(500),
        hint: "<".repeat(500),
        file: "f",
        line: 1,
        column: 1,
      })),
      removed: [...rows({ forbidden: true }), ...rows({ forbidden: false })],
      retracted: rows({ reason: "@".repeat(500), replaced_by: 7, at: plan.at }),
      reinstated: rows({}),
      added: [
        ...rows({ checksum: "a", ledger: "planned" as const }),
        ...rows({ checksum: "a", ledger: "written" as const }),
      ],
      revised: rows({}),
      changed: (["planned", "written", "open"] as const).flatMap((ledger) => rows({ ledger, fields })),
      documents: { added: ["a"], changed: ["b"], removed: ["c"] },
    };
    for (const measure of [characters, bytes])
      expect(measure(planMarkdown(full, smallestLimit, measure))).toBeLessThanOrEqual(smallestLimit);
    expect(planMarkdown(full, smallestLimit)).toContain("### Documents: 1 removed, 1 added, 1 changed");
  });

  test("stays within --limit", async () => {
    const made = await settledProject();
    writeAll(made, october);
    expect(
      (await made.run("plan", "--format", "markdown", "--limit", "10000")).stdout.length,
    ).toBeLessThanOrEqual(10_000);
    expect(await made.run("plan", "--format", "markdown", "--limit", "100")).toMatchObject({
      exitCode: 2,
      stderr: "error[usage] --limit 100 is too small for a plan\n  hint: Give 10000 or more.",
    });
    expect(await made.run("plan", "--limit", "20000")).toMatchObject({
      exitCode: 2,
      stderr: "error[usage] --limit needs --format markdown\n  hint: Other formats are never shortened.",
    });
  });
});

test("cut --body writes the plan, compared with the settled revision if git knows it", async () => {
  const made = await settledProject();
  writeAll(made, october);
  await made.succeed("plan", "--now", "2026-10-02T10:00:00Z", "--out", "plan.json", "--format", "markdown");
  const { stdout } = await made.run("plan", "--now", "2026-10-02T10:00:00Z", "--format", "markdown");
  const ledger = made.read("releases/ledger.jsonl");
  await made.succeed("cut", "--all", "--now", "2026-10-02T10:00:00Z", "--body", "out/body.md");
  expect(made.read("out/body.md").trimEnd()).toBe(stdout);
  made.write("releases/ledger.jsonl", ledger);
  await made.succeed("cut", "--plan", "plan.json", "--body", "out/other.md");
  expect(made.read("out/other.md").trimEnd()).toBe(stdout);
  expect(stdout).toMatch(
    /^<!-- relcat plan -->\n\n## Plan\n\nCompared with <code>main<\/code> \([0-9a-f]{12}\): 4 records\.\n\n\*\*Records: 2 added\.\*\*\n/,
  );
});
