// node .ci/placeholders.mjs [--publish]: refuses to pack relcat for others while addresses of its owner are not filled in.
// `npm pack` runs it; RELCAT_PRIVATE_PACKAGE=1 allows a package that stays on your machines. `npm publish` accepts no switch.
import { readdirSync, readFileSync } from "node:fs";

/** Part of each placeholder: RFC 2606 reserves .invalid, so none of them can be an address. */
const mark = "fill-in.invalid";

/** What each placeholder becomes, by the words of its line. */
const expected = [
  [/"author"/, 'the name and address of the owner, such as "Acme <relcat@example.com>"'],
  [/"homepage"/, "the address of the project's page"],
  [/git\+https/, "the address of the git repository, such as git+https://git.example.com/acme/relcat.git"],
  [/issues/, "the address where users report bugs"],
  [/security@/, "the address for reports of vulnerabilities, which only maintainers read"],
  [/conduct@/, "the address for reports about conduct, which only maintainers read"],
];

const files = ["package.json", ...readdirSync(".").filter((name) => name.endsWith(".md"))];

/** @returns a message for each line that has a placeholder */
function placeholdersIn(file) {
  return readFileSync(file, "utf8")
    .split("\n")
    .map((line, index) => ({ line, row: index + 1, column: line.indexOf(mark) + 1 }))
    .filter(({ column }) => column > 0)
    .map(({ line, row, column }) => {
      const [, value = "your own address"] = expected.find(([words]) => words.test(line)) ?? [];
      return `${file}:${row}:${column} error[placeholder] ${mark} is a placeholder, expected ${value}\n   ${row} | ${line.trim()}`;
    });
}

const isPublished = process.argv.includes("--publish");
const isPrivate = !isPublished && process.env.RELCAT_PRIVATE_PACKAGE === "1";
const found = isPrivate ? [] : files.flatMap(placeholdersIn);
if (found.length > 0) {
  const privately = isPublished
    ? ""
    : " For a package that stays on your machines, set RELCAT_PRIVATE_PACKAGE=1.";
  const hint = `Replace each ${mark} in these files with an address of your own, commit them, and run npm again.${privately}`;
  process.stderr.write(`${found.join("\n")}\n  hint: ${hint}\n`);
  process.exitCode = 1;
}
