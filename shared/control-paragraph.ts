/** One paragraph of fields (deb822(5)): values by lower-case field name, with their continuation lines. */
type Paragraph = ReadonlyMap<string, string>;

/** @param text without final line feeds @returns a clause that says what is wrong, if it is not one paragraph */
export function parseParagraph(text: string): Paragraph | string {
  const fields = new Map<string, string>();
  let last = "";
  for (const line of text.split("\n")) {
    if (/^[ \t]+\S/.test(line) && last !== "") {
      fields.set(last, `${fields.get(last)}\n${line}`);
      continue;
    }
    const name = /^(?![#-])([!-9;-~]+):/.exec(line)?.[1];
    if (name === undefined) return `has the line ${shortened(line)}, expected "Field: value"`;
    last = name.toLowerCase();
    if (fields.has(last)) return `has ${name} twice`;
    fields.set(last, withoutBlanks(line.slice(name.length + 1)));
  }
  return fields;
}

const shortened = (line: string) => JSON.stringify(line.length > 80 ? `${line.slice(0, 79)}…` : line);

/** A regular expression would need quadratic time for a long run of blanks. */
function withoutBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === " " || text[at] === "\t";
  let [from, to] = [0, text.length];
  while (from < to && isBlank(from)) from++;
  while (to > from && isBlank(to - 1)) to--;
  return text.slice(from, to);
}

/** Fields that the index of a repository adds to the paragraph of a package. */
const repositoryFields = ["Filename", "Size", "MD5sum", "SHA1", "SHA256", "SHA512"];

/** Forms that dpkg accepts. */
const required: readonly (readonly [field: string, form: RegExp])[] = [
  ["Package", /^[0-9A-Za-z][0-9A-Za-z+._-]*$/],
  ["Version", /^(?:\d+:)?[0-9A-Za-z][0-9A-Za-z.+~:-]*$/],
  ["Architecture", /^[0-9a-z][0-9a-z-]*$/],
];

/** Says why an index cannot repeat this control paragraph (deb-control(5)) unchanged; undefined: it can. */
export function controlFault(text: string): string | undefined {
  const unseen = /[^\P{Cc}\n\t]/u.exec(text)?.[0];
  if (unseen !== undefined) return `has the control character ${JSON.stringify(unseen)}`;
  const fields = parseParagraph(text);
  if (typeof fields === "string") return fields;
  const foreign = repositoryFields.find((name) => fields.has(name.toLowerCase()));
  if (foreign) return `has the field ${foreign}, which only the index of a repository has`;
  for (const [name, form] of required) {
    const value = fields.get(name.toLowerCase());
    if (!value) return `does not say ${name}`;
    if (!form.test(value)) return `has ${JSON.stringify(value)} for ${name}`;
  }
  return undefined;
}
