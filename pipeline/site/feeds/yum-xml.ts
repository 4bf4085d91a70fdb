const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};
const escaped = (character: string): string => escapes[character] ?? character;

/** A value between quotes; a parser would replace bare white space characters by spaces. */
const attributeValue = (value: string): string => value.replace(/[&<>"\t\n\r]/g, escaped);

/** A parser would replace a bare carriage return by a line feed. */
const elementText = (text: string): string => text.replace(/[&<>\r]/g, escaped);

export type Attributes = Readonly<Record<string, string | number | undefined>>;

function attributeList(attributes: Attributes): string {
  let list = "";
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) list += ` ${name}="${attributeValue(String(value))}"`;
  return list;
}

/** An element with text, or an empty one. Attributes that are undefined are left out. */
export function element(name: string, attributes: Attributes, text = ""): string {
  const start = `<${name}${attributeList(attributes)}`;
  return text === "" ? `${start}/>` : `${start}>${elementText(text)}</${name}>`;
}

/** An element whose children are XML, one a line. Text is not indented, because white space is part of it. */
export function parent(name: string, attributes: Attributes, children: readonly string[]): string {
  if (children.length === 0) return element(name, attributes);
  return `<${name}${attributeList(attributes)}>\n${children.join("\n")}\n</${name}>`;
}
