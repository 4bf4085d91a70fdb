import { createHash } from "node:crypto";

const subjects = [
  "The list of devices",
  "A controller behind a proxy",
  "The desktop application on Windows",
  "An API key without an end date",
  "The enrolment of a device that was reset",
  "The image for KVM",
  "A lease that ran out during an upgrade",
  "The installer for macOS",
];
const events = [
  "keeps its place when `sort` is given twice",
  "is shown with the time it was *last* used",
  "no longer waits for `idle_timeout` before it connects again",
  "takes half of the memory it took before",
  "is refused with a message that names the [setting](https://docs.example.com/settings)",
  "**must be confirmed** by a second person",
  "starts although the clock of the host is behind",
  "follows the language of the system",
];
const circumstances = [
  "after an upgrade from the previous month",
  "on hosts with more than 64 cores",
  'when the name has a quote such as "edge" in it',
  "if the database was moved with `northgate-ctl move --to`",
  "as the [guide](https://docs.example.com/guide) says",
  "while a backup is running",
  "in regions without a standby",
  "for accounts with more than 10,000 devices",
];

/** Where notes stand in release.yaml, in the order they are shown. */
const sections = [
  ["server", "fixes"],
  ["server", "features"],
  ["documentation", "features"],
  ["meta_control_plane", "fixes"],
] as const;

/** Numbers below a bound that are the same for the same text. */
function numbers(text: string): (below: number) => number {
  const bytes = createHash("sha512").update(text).digest();
  let next = 0;
  return (below) => (bytes[next++ % bytes.length] ?? 0) % below;
}

/** A summary and four to eight notes in Markdown, as release.yaml has them; the same for the same version. */
export function notesYaml(version: string): string {
  const number = numbers(version);
  const sentence = () =>
    [subjects, events, circumstances].map((words) => words[number(words.length)]).join(" ");
  const count = 4 + number(5);
  const listed = sections.map(([component, kind], section) => {
    const texts = Array.from({ length: count }, (_, index) => index).filter((index) => index % 4 === section);
    return { component, kind, texts: texts.map(() => `${sentence()}. ${sentence()}.`) };
  });
  const components = Map.groupBy(listed, ({ component }) => component);
  const notes = [...components].map(([component, kinds]) => {
    const lists = kinds.map(({ kind, texts }) => `    ${kind}:\n${texts.map(listItem).join("")}`);
    return `  ${component}:\n${lists.join("")}`;
  });
  return `summary: ${folded(`${sentence()}. ${sentence()}. ${sentence()}.`, "  ")}notes:\n${notes.join("")}`;
}

const listItem = (text: string): string => `      - ${folded(text, "        ")}`;

/** A block text as people fold it, in lines of about a hundred characters. */
function folded(text: string, indent: string): string {
  const rows = text.match(/\S(?:.{0,100}\S)?(?=\s|$)/g) ?? [];
  return `>-\n${rows.map((row) => `${indent}${row}\n`).join("")}`;
}
